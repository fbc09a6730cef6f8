"""Make a store match a registry: plan first, then do what was shown.

Nothing is requested over the network: a registry states what there should be, and the first sync finds out
whether it is there. A source whose settings changed is edited in place where its kind can tell what they
cover. Removing what the list does not name takes `prune`; replacing a source by another one, with what is
stored of it, takes `replace`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rowen.alarms import raising
from rowen.core.exchange import alarm_channels
from rowen.core.exchange.alarm import Channel
from rowen.core.source import NewSource
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, UserError
from rowen.managing import edit, sources
from rowen.managing.registry import rules as registry
from rowen.managing.registry import sinks
from rowen.managing.registry.rules import Entry, Registry, Step, Wanted

NEEDS = {"replace": "--replace", "remove": "--prune"}
"""The flag that an action which deletes something waits for."""


async def plan(ports: Ports, listed: Registry) -> list[Step]:
    wanted: dict[str, Wanted] = {}
    for entry in listed.sources:
        new = await _described(ports, entry)
        kind = ports.kinds.named(new.kind)
        wanted[entry.label] = Wanted(new=new, specs=kind.params, editable=partial(edit.is_editable, kind))
    steps = registry.plan(listed.sources, await ports.store.sources(), wanted)
    return [*steps, *await sinks.plan(ports, listed.sinks), *await _plan_alarms(ports, listed.alarms)]


async def apply(
    ports: Ports, listed: Registry, steps: Sequence[Step], *, prune: bool, replace: bool = False
) -> list[Step]:
    """Carry out a plan; returns the steps that were done."""
    allowed = {"--prune": prune, "--replace": replace}
    if not prune:
        await sinks.check_left(ports, listed.sinks)
    done: list[Step] = []
    async with sources.removing(ports) as remove:
        for step in steps:
            if step.action == "keep" or not allowed.get(NEEDS.get(step.action, ""), True):
                continue
            if step.what == "sink":
                await sinks.apply(ports, step)
            elif step.what == "alarms":
                await raising.save_channels(ports.store, listed.alarms)
            if step.source is not None and step.action in NEEDS:
                await remove(step.source)
            if step.entry is not None:
                await _put(ports, step)
            done.append(step)
    return done


async def _plan_alarms(ports: Ports, wanted: Sequence[Channel] | None) -> list[Step]:
    stored = await ports.store.note(raising.NOTE)
    tables = None if wanted is None else [alarm_channels.as_table(channel) for channel in wanted]
    if tables == stored:
        return []
    if tables is None:
        action, reason = "remove", "not in the list: they would go to the log again"
    else:
        action = "add" if stored is None else "change"
        reason = f"to {', '.join(channel.name for channel in wanted or ()) or 'no channel'}"
    return [Step(action=action, label="alarms", reason=reason, what="alarms")]


async def _put(ports: Ports, step: Step) -> None:
    entry = step.entry
    if entry is None:
        raise AssertionError("a step that puts something has an entry")
    if step.action in ("change", "reschedule") and step.source is not None:
        if step.action == "change":
            new, kind = await _described(ports, entry), ports.kinds.named(step.source.kind)
            await edit.carry_out(ports, await edit.compare(ports, step.source, kind, new.params))
        if step.source.every_s != entry.every_s:
            await ports.store.set_schedule(step.source.id, entry.every_s)
        return
    source = await ports.store.add_source(await _described(ports, entry), now=ports.clock.now())
    if entry.every_s is not None:
        await ports.store.set_schedule(source.id, entry.every_s)


async def _described(ports: Ports, entry: Entry) -> NewSource:
    try:
        given = sources.Given(
            name=entry.name, kind=entry.kind, version=entry.version, settings=entry.settings, check=False
        )
        new, _ = await sources.describe(ports, entry.location, given)
    except UserError as exc:
        raise ConfigError(f"{entry.where}: {exc.message}", hint=exc.hint, **exc.facts) from None
    return new
