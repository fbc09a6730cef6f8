"""Our own kinds of source, in the order in which they are asked whether a location is theirs.

Each is imported when it is asked for. The last one, `web`, takes every location that no other kind claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowen.engine.kind import Kind


def with_common_settings(kind: Kind) -> Kind:
    """The kind with the settings that every source has."""
    from rowen.kinds.settings import KEEP, MAX_DELETED_SHARE, TIME_LIMIT_S, WEBHOOK_SECRET

    named = {param.name for param in kind.params}
    common = (MAX_DELETED_SHARE, TIME_LIMIT_S, KEEP, WEBHOOK_SECRET)
    return replace(kind, params=(*kind.params, *(one for one in common if one.name not in named)))


def _folder(name: str) -> Kind:
    kind: Kind = import_module(f"rowen.kinds.{name}.kind").KIND
    return with_common_settings(kind)


def _preset(name: str) -> Kind:
    from rowen.kinds.api.kind import KINDS

    return with_common_settings(KINDS[name].kind)


PORTALS = (
    "dcat", "socrata", "opendatasoft", "arcgis", "udata", "dkan", "dcat_list", "sparql", "sdmx",
    "oai_pmh", "dataverse", "invenio", "ogc_records", "csw", "stac",
)  # fmt: skip
APIS = (*PORTALS, "rest", "infojobs", "greenhouse", "lever")
BUILTIN: Mapping[str, Callable[[], Kind]] = {
    **{name: partial(_folder, name) for name in ("github", "git", "files", "llms", "ckan")},
    **{name: partial(_preset, name) for name in APIS},
    "web": partial(_folder, "web"),
}
