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
from rowen.kinds.llms import prepare as llms_prepare
from rowen.kinds.settings import MAX_DELETED_SHARE, WEBHOOK_SECRET
from rowen.kinds.web import kind as web
from rowen.kinds.web import prepare as web_prepare


def builtin() -> dict[str, Kind]:
    """By name. The last one, `web`, takes every location that no other kind claims."""
    return {
        kind.name: with_common_settings(kind)
        for kind in (
            Kind(
                name="github",
                params=github.PARAMS,
                claims=github.claims,
                prepare=github.prepare,
                harvest=github.harvest,
            ),
            Kind(
                name="git",
                params=git.PARAMS,
                claims=git.claims,
                prepare=git.prepare,
                harvest=git.harvest,
            ),
            Kind(
                name="files",
                params=files.PARAMS,
                claims=files.claims,
                prepare=files.prepare,
                count=files.count,
                harvest=files.harvest,
            ),
            Kind(
                name="llms",
                params=llms.PARAMS,
                claims=llms.claims,
                prepare=llms_prepare.prepare,
                harvest=llms.harvest,
            ),
            Kind(
                name="ckan",
                params=ckan.PARAMS,
                claims=ckan.claims,
                prepare=ckan.prepare,
                preload=False,
                count=ckan.count,
                harvest=ckan.harvest,
            ),
            *(
                Kind(
                    name=one.name,
                    params=one.params,
                    claims=one.claims,
                    prepare=one.prepare,
                    preload=False,
                    count=one.count,
                    harvest=one.harvest,
                )
                for one in api.KINDS.values()
            ),
            Kind(
                name="web",
                params=web.PARAMS,
                claims=lambda ports, location: True,
                prepare=web_prepare.prepare,
                guess=web_prepare.guess,
                harvest=web.harvest,
            ),
        )
    }


def with_common_settings(kind: Kind) -> Kind:
    """The kind with the settings that every source has."""
    named = {param.name for param in kind.params}
    common = (param for param in (MAX_DELETED_SHARE, WEBHOOK_SECRET) if param.name not in named)
    return replace(kind, params=(*kind.params, *common))
