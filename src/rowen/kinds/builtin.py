"""Our own kinds of source, in the order in which they are asked whether a location is theirs."""

from __future__ import annotations

from dataclasses import replace

from rowen.engine.kind import Kind
from rowen.kinds.api import kind as api
from rowen.kinds.ckan import kind as ckan
from rowen.kinds.files import kind as files
from rowen.kinds.git import kind as git
from rowen.kinds.github import kind as github
from rowen.kinds.llms import kind as llms
from rowen.kinds.settings import MAX_DELETED_SHARE, WEBHOOK_SECRET
from rowen.kinds.web import kind as web


def builtin() -> dict[str, Kind]:
    """By name. The last one, `web`, takes every location that no other kind claims."""
    apis = (one.kind for one in api.KINDS.values())
    kinds = (github.KIND, git.KIND, files.KIND, llms.KIND, ckan.KIND, *apis, web.KIND)
    return {kind.name: with_common_settings(kind) for kind in kinds}


def with_common_settings(kind: Kind) -> Kind:
    """The kind with the settings that every source has."""
    named = {param.name for param in kind.params}
    common = (param for param in (MAX_DELETED_SHARE, WEBHOOK_SECRET) if param.name not in named)
    return replace(kind, params=(*kind.params, *common))
