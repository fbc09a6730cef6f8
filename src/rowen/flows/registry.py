"""Make a store match a registry: plan first, then do what was shown.

Nobody is asked over the network: a registry states what there should be, and the first sync finds out whether
it is there. Removing, and replacing a source by one that fetches something else, take `prune`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rowen.core import registry
from rowen.core.registry import Entry, Step
from rowen.core.source import NewSource
from rowen.flows import sources
from rowen.flows.tools import Tools

NEEDS_PRUNE = frozenset({"replace", "remove"})


async def plan(tools: Tools, entries: Sequence[Entry]) -> list[Step]:
    keys = {entry.label: (await _described(tools, entry)).key for entry in entries}
    return registry.plan(entries, await tools.store.sources(), keys)


async def apply(tools: Tools, steps: Sequence[Step], *, prune: bool) -> list[Step]:
    """Carry out a plan; answers the steps that were done."""
    done: list[Step] = []
    for step in steps:
        if step.action == "keep" or (step.action in NEEDS_PRUNE and not prune):
            continue
        if step.source is not None and step.action in NEEDS_PRUNE:
            await sources.remove(tools, step.source)
        if step.entry is not None:
            await _put(tools, step)
        done.append(step)
    return done


async def _put(tools: Tools, step: Step) -> None:
    entry = step.entry
    if entry is None:
        raise AssertionError("a step that puts something has an entry")
    if step.action == "reschedule" and step.source is not None:
        await tools.store.set_schedule(step.source.id, entry.every_s)
        return
    source = await tools.store.add_source(await _described(tools, entry), now=tools.clock.now())
    if entry.every_s is not None:
        await tools.store.set_schedule(source.id, entry.every_s)


async def _described(tools: Tools, entry: Entry) -> NewSource:
    new, _ = await sources.describe(
        tools,
        entry.location,
        name=entry.name,
        kind=entry.kind,
        version=entry.version,
        settings=entry.settings,
        check=False,
    )
    return new
