"""Make the sinks of a store match a list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rowen.core.exchange.sink import SUBSCRIPTION, SinkEntry
from rowen.core.feed import START, Cursor
from rowen.engine.ports import Ports
from rowen.errors import ConfigError
from rowen.managing.registry.rules import Step
from rowen.sinks import declared as rules


def described(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    """The settings that are stored of an entry. Raises `ConfigError`."""
    try:
        return ports.sinks.named(entry.kind).check(ports, entry)
    except ConfigError as exc:
        raise ConfigError(f"sink `{entry.name}`: {exc.message}", hint=exc.hint, **exc.facts) from None


async def plan(ports: Ports, entries: Sequence[SinkEntry]) -> list[Step]:
    """What makes the sinks those of the list. Nothing is written."""
    stored = {sink.name: sink for sink in await ports.store.sinks()}
    wanted = {entry.name: described(ports, entry) for entry in entries}
    _refuse_shared_files(wanted.items())
    steps = []
    for entry in entries:
        action, reason = rules.change(entry, wanted[entry.name], stored.pop(entry.name, None))
        steps.append(Step(action=action, label=entry.name, reason=reason, what="sink", sink=entry))
    gone = "not in the list; what it was sent stays there"
    # Subscriptions of people are no part of the list, unless it names them.
    left = sorted(name for name, sink in stored.items() if sink.kind != SUBSCRIPTION)
    return steps + [Step(action="remove", label=name, reason=gone, what="sink") for name in left]


async def check_left(ports: Ports, entries: Sequence[SinkEntry]) -> None:
    """Refuse a list whose files are written by sinks that it does not name, and that stay."""
    wanted = {entry.name: described(ports, entry) for entry in entries}
    left = {sink.name: sink.settings for sink in await ports.store.sinks() if sink.name not in wanted}
    _refuse_shared_files([*left.items(), *wanted.items()], left=left.keys())


async def apply(ports: Ports, step: Step) -> None:
    """Carry out one step of the plan."""
    if step.sink is None:
        await ports.store.remove_sink(step.label)
        return
    settings = described(ports, step.sink)
    await ports.store.save_sink(
        step.label, kind=step.sink.kind, settings=settings, cursor=await _start(ports, step.sink, settings)
    )


async def _start(ports: Ports, entry: SinkEntry, settings: dict[str, Any]) -> Cursor:
    usual = "beginning" if ports.sinks.named(entry.kind).from_beginning else "now"
    return await ports.store.feed_end() if settings.get("start", usual) == "now" else START


def _refuse_shared_files(
    sinks: Iterable[tuple[str, Mapping[str, Any]]], *, left: Collection[str] = ()
) -> None:
    """Each would overwrite what the other wrote, without end."""
    writers: dict[str, str] = {}
    for name, settings in sinks:
        file = settings.get("file")
        other = writers.setdefault(file, name) if file else name
        if other != name:
            hint = f"remove `{other}` with `--prune`, or" if other in left else ""
            raise ConfigError(
                f"sinks `{other}` and `{name}`: both write `{file}`",
                hint=f"{hint} give each a file of its own".strip(),
            )
