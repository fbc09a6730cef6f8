"""Find a source by a typed name, with or without a version."""

from __future__ import annotations

from collections.abc import Sequence

from rowen.core.feed import ALL_SOURCES, Chosen, these
from rowen.core.rules.version import best as newest_fitting
from rowen.core.source import Source
from rowen.errors import NotFound, did_you_mean
from rowen.ports.store.sources import Sources


async def find(store: Sources, name: str) -> Source:
    """A source by its name, `name` or `name@version`."""
    sources = await store.sources()
    for source in sources:
        if source.label == name:
            return source
    of_that_name = [source for source in sources if source.name == name]
    if len(of_that_name) == 1:
        return of_that_name[0]
    if of_that_name:
        labels = ", ".join(f"`{source.label}`" for source in of_that_name)
        raise NotFound(
            f"source `{name}`: has {len(of_that_name)} versions", hint=f"name one: {labels}", name=name
        )
    known = [source.label for source in sources]
    hint = did_you_mean(name, known, otherwise="list them with `rowen status`")
    if not sources:
        hint = "add one with `rowen add docs.example.org`"
    raise NotFound(f"source `{name}`: no such source", hint=hint, name=name)


async def find_pair(store: Sources, before: str, after: str) -> tuple[Source, Source]:
    """Two versions to compare; either may be a version alone, of the source that the other names."""
    labels = {source.label for source in await store.sources()}
    names = [before, after]
    for index, other in ((0, after), (1, before)):
        of_the_other = f"{_name(other)}@{names[index]}"
        if names[index] not in labels and of_the_other in labels:
            names[index] = of_the_other
    return await find(store, names[0]), await find(store, names[1])


async def find_all(store: Sources, names: Sequence[str]) -> list[Source]:
    """The named sources, every version of a name that stands alone, or all sources."""
    sources = await store.sources()
    if not names:
        return sources
    found: dict[int, Source] = {}
    for name in names:
        of_that_name = [source for source in sources if name in (source.name, source.label)]
        for source in of_that_name or [await find(store, name)]:
            found[source.id] = source
    return list(found.values())


async def find_changed(store: Sources, names: Sequence[str]) -> Chosen:
    """Whose changes a reader means: as `find_all`, and a source of that name that was removed."""
    if not names:
        return ALL_SOURCES
    removed = [label for label in await store.removed_sources() if {label, _name(label)} & set(names)]
    known = {one for source in await store.sources() for one in (source.label, source.name)}
    gone = {one for label in removed for one in (label, _name(label))} - known
    there = [name for name in names if name not in gone]
    return these(await find_all(store, there) if there else [], removed=removed)


def _name(label: str) -> str:
    return label.partition("@")[0]


async def choose(store: Sources, wanted: str) -> Source:
    """The source a reader means: `python@3.12` that one, `python@3` the best such, `python` the newest."""
    return (await choose_all(store, [wanted]))[0]


async def choose_all(store: Sources, wanted: Sequence[str]) -> list[Source]:
    """`choose` for several, from one look at the store."""
    every = await store.sources() if wanted else []
    return [await _chosen(store, every, one) for one in wanted]


async def _chosen(store: Sources, every: Sequence[Source], wanted: str) -> Source:
    name, _, version = wanted.partition("@")
    versions = {source.version: source for source in every if source.name == name}
    best = newest_fitting(version, versions)
    if best is not None:
        return versions[best]
    if versions:
        raise NotFound(
            f"source `{wanted}`: no version of `{name}` fits",
            hint=f"there are {', '.join(f'`{source.label}`' for source in versions.values())}",
            name=wanted,
        )
    return await find(store, wanted)
