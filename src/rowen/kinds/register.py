"""The kinds of source there are, each a module that says how to list, to ask "changed?" and to fetch."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from rowen.core.params import Param
from rowen.core.source import Source
from rowen.engine.harvest import Harvested, Prepared
from rowen.engine.intake import Intake
from rowen.errors import ConfigError
from rowen.kinds.api import kind as rest
from rowen.kinds.api import paged
from rowen.kinds.ckan import kind as ckan
from rowen.kinds.files import kind as files
from rowen.kinds.git import kind as git
from rowen.kinds.github import kind as github
from rowen.kinds.llms import kind as llms
from rowen.kinds.settings import WEBHOOK_SECRET
from rowen.kinds.web import kind as web
from rowen.kinds.web import probe
from rowen.ports.bundle import Ports


class Prepare(Protocol):
    """Check and complete a location; with `check`, ask whoever answers there. Raises `BadLocation`.

    `settings` are the values of all of the kind's parameters, defaults included.
    """

    def __call__(
        self, ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool
    ) -> Coroutine[Any, Any, Prepared]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    name: str
    params: tuple[Param, ...]
    claims: Callable[[Ports, str], bool]
    """Does a location look like one of these? The first kind that says so is asked."""
    prepare: Prepare
    guess: Prepare | None = None
    """Asked instead when nobody named the kind; may answer that the location is better had by another one."""
    preload: bool = True
    """Load all that readers see before the harvest; kinds that list too much look it up page by page."""
    count: Callable[[Ports, Source, Mapping[str, Any]], Coroutine[Any, Any, int]] | None = None
    """How many items there are, when that can be had cheaply: for `rowen plan`."""
    harvest: Callable[[Ports, Source, Mapping[str, Any], Intake], Coroutine[Any, Any, Harvested]]


KINDS = {
    kind.name: replace(kind, params=(*kind.params, WEBHOOK_SECRET))
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
            prepare=probe.prepare_llms,
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
                name=portal.api.kind,
                params=portal.params,
                claims=paged.no_claims,
                prepare=portal.prepare,
                preload=False,
                count=portal.count,
                harvest=portal.harvest,
            )
            for portal in (paged.DCAT, paged.SOCRATA, paged.OPENDATASOFT, paged.ARCGIS)
        ),
        *(
            Kind(
                name=api.name,
                params=api.params,
                claims=api.claims,
                prepare=api.prepare,
                preload=False,
                count=api.count,
                harvest=api.harvest,
            )
            for api in (rest.REST, rest.INFOJOBS, rest.GREENHOUSE, rest.LEVER)
        ),
        Kind(
            name="web",
            params=web.PARAMS,
            claims=lambda ports, location: True,
            prepare=probe.prepare_web,
            guess=probe.guess,
            harvest=web.harvest,
        ),
    )
}


def kind_named(name: str) -> Kind:
    if name in KINDS:
        return KINDS[name]
    close = difflib.get_close_matches(name, KINDS, 1)
    hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(KINDS)}"
    raise ConfigError(f"kind `{name}`: no such kind of source", hint=hint)


def kind_of(ports: Ports, location: str) -> Kind:
    """The kind a location looks like; asking there may still show that it is another."""
    return next(kind for kind in KINDS.values() if kind.claims(ports, location))
