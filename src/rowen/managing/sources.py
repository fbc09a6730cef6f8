"""Adding sources and removing them.

Adding sends a request first: a stored source has answered. What a person left out of a location and its name
is guessed for doors that ask for it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace

from rowen.core import params as parameters
from rowen.core.source import ADDED_BY, NewSource, Source, source_key
from rowen.engine import confine
from rowen.engine.kind import Kind
from rowen.engine.leases import run_lease
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, Conflict, UserError
from rowen.managing import guess as guessing
from rowen.offers import companies
from rowen.records import dataclass

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What a caller says about a source beside its location."""

    name: str | None
    kind: str | None = None
    version: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    check: bool = True
    """Is the server asked?"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    source: Source
    findings: tuple[str, ...]
    """What the answer of the server shows, in sentences."""


async def add(
    ports: Ports,
    location: str,
    *,
    name: str | None,
    kind: str | None = None,
    version: str = "",
    settings: Mapping[str, str] | None = None,
    check: bool = True,
    origin: str | None = None,
    guess: bool = False,
) -> Added:
    """Find out what is there and store it; without `check`, no request is sent.

    With `guess`, an address may lack its scheme and a source its name: the first findings say what was made
    of it. `origin` says who adds it when that is not the operator of this machine (`core.source.API`): such
    a source reaches nothing private, now or later.
    """
    given = Given(name=name, kind=kind, version=version, settings=settings or {}, check=check)
    new, findings = await look(ports, location, given, origin=origin, guess=guess)
    source = await ports.store.add_source(new, now=ports.clock.now())
    return Added(source=source, findings=findings)


async def look(
    ports: Ports,
    location: str,
    given: Given,
    *,
    origin: str | None = None,
    guess: bool = False,
) -> tuple[NewSource, tuple[str, ...]]:
    """What `add` would store, and what was found out about it. Nothing is written."""
    asking = ports
    if origin is not None:
        confine.check_variables(ports, given.settings)
        confine.check_ca_file(ports, given.settings.get("ca_file"))
        asking = confine.limited(ports)
    new, findings = await (_guessed if guess else describe)(asking, location, given)
    return (replace(new, metadata={ADDED_BY: origin}) if origin is not None else new), findings


async def _guessed(ports: Ports, location: str, given: Given) -> tuple[NewSource, tuple[str, ...]]:
    """The source that a person means by half an address or without a name."""
    path = ports.folders.locate(location)
    meant = guessing.complete(location, exists=path is not None, kind=given.kind)
    said = [meant.said] if meant.said else []
    every = await ports.store.sources()
    if given.name is None:
        name = guessing.name_of(path or meant.locations[0])
        taken = {source.name for source in every if source.version == given.version}
        given = replace(given, name=guessing.unused(name, taken))
        also = f"; `{name}` is another source" if given.name != name else ""
        said.append(f"named `{given.name}`{also}: `--name` chooses another")
        new, findings = await _first_that_answers(ports, meant.locations, given)
        _refuse_twin(new, every)
    else:
        new, findings = await _first_that_answers(ports, meant.locations, given)
    return new, (*said, *findings)


async def _first_that_answers(
    ports: Ports, locations: Sequence[str], given: Given
) -> tuple[NewSource, tuple[str, ...]]:
    first: BadLocation | None = None
    for location in locations:
        try:
            return await describe(ports, location, given)
        except BadLocation as exc:
            first = first or exc
    raise first or AssertionError("there is a location")


def _refuse_twin(new: NewSource, every: Sequence[Source]) -> None:
    """Without a name, the same address again is a mistake more often than a second source."""
    for source in every:
        if (source.kind, source.location, source.version) == (new.kind, new.location, new.version) and dict(
            source.params
        ) == dict(new.params):
            raise Conflict(
                f"source `{source.label}`: has this location already",
                hint=f"`rowen sync {source.label}` brings it up to date; `--name` adds it a second time",
                name=source.name,
            )


async def describe(ports: Ports, location: str, given: Given) -> tuple[NewSource, tuple[str, ...]]:
    """The source that is meant, and what was found out about it. Nothing is written."""
    name, kind, version, settings = given.name, given.kind, given.version, given.settings
    if name is None:
        raise UserError("a source needs a name")
    check_name(name)
    if version and not VERSION.fullmatch(version):
        raise UserError(
            f"version `{version!r}`: expected up to 64 letters, digits and any of `.`, `-`, `_`, `+`",
            version=version,
        )
    chosen = ports.kinds.named(kind) if kind else _kind_of(ports, location)
    prepare = chosen.prepare if kind else chosen.guess or chosen.prepare
    later = (
        _of_families(ports, chosen, settings)
        if given.check and prepare is not chosen.prepare
        else frozenset()
    )
    # Before the first request: a misspelt setting should not cost one.
    values = parameters.read(chosen.params, {name: settings[name] for name in settings if name not in later})
    prepared = await prepare(
        ports, location, settings=parameters.complete(chosen.params, values), check=given.check
    )
    chosen = ports.kinds.named(prepared.kind)
    values = parameters.read(chosen.params, settings)
    new = NewSource(
        kind=chosen.name,
        name=name,
        version=version,
        location=prepared.location,
        params=values,
        key=_key(chosen, name=name, version=version, location=prepared.location, values=values),
    )
    return new, prepared.findings


def _of_families(ports: Ports, chosen: Kind, settings: Mapping[str, str]) -> frozenset[str]:
    """Settings that only other kinds have: whether it is one of them is found out by asking."""
    unknown = frozenset(name for name in settings if not parameters.has(chosen.params, name))
    if not unknown:
        return unknown
    others = list(ports.kinds.ours())
    return frozenset(name for name in unknown if any(parameters.has(one.params, name) for one in others))


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UserError(
            f"name `{name}`: expected up to 64 letters, digits, dots, dashes or underscores", name=name
        )


async def remove(ports: Ports, source: Source) -> None:
    async with removing(ports) as remove_one:
        await remove_one(source)


@asynccontextmanager
async def removing(ports: Ports) -> AsyncIterator[Callable[[Source], Awaitable[None]]]:
    """Remove sources one by one; what was theirs alone is looked for once, after the last of them."""
    removed = 0

    async def remove_one(source: Source) -> None:
        nonlocal removed
        async with run_lease(ports, source):
            await ports.store.remove_source(source.id, now=ports.clock.now())
        removed += 1

    try:
        yield remove_one
    finally:
        if removed:
            await companies.project(ports)
            await ports.store.vacuum({}, everything=True)


def _kind_of(ports: Ports, location: str) -> Kind:
    """The kind of ours that a location looks like; asking there may still show that it is another."""
    return next(kind for kind in ports.kinds.ours() if kind.claims(ports, location))


def _key(kind: Kind, *, name: str, version: str, location: str, values: Mapping[str, object]) -> str:
    identity = parameters.identity(kind.params, values)
    return source_key(kind=kind.name, name=name, location=location, version=version, identity=identity)
