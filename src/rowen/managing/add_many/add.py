"""Adding all the portals of a list: everything is checked before anything is added."""

from __future__ import annotations

from collections.abc import Sequence

from rowen.core import params as parameters
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, UserError
from rowen.managing import sources
from rowen.managing.add_many.rules import Entry
from rowen.managing.sources import Added
from rowen.records import dataclass

ADDED, EXISTS, DISABLED = "added", "exists", "disabled"


@dataclass(frozen=True, slots=True)
class Listed:
    """What became of one entry of a list."""

    entry: Entry
    outcome: str
    added: Added | None = None


async def add_listed(ports: Ports, entries: Sequence[Entry], *, check: bool) -> list[Listed]:
    """Add every enabled entry whose name is free. Raises before the first is added if any cannot be."""
    names = {(source.name, source.version) for source in await ports.store.sources()}
    wanted = [entry for entry in entries if entry.enabled and (entry.name, entry.version) not in names]
    for entry in wanted:
        try:
            await _validate(ports, entry, check=check)
        except UserError as exc:
            raise type(exc)(f"portal `{entry.name}`: {exc.message}", hint=exc.hint) from exc
    results: list[Listed] = []
    for entry in entries:
        if entry not in wanted:
            results.append(Listed(entry, EXISTS if entry.enabled else DISABLED))
            continue
        added = await sources.add(
            ports,
            entry.url,
            name=entry.name,
            kind=entry.type,
            version=entry.version,
            settings=entry.settings,
            check=False,
        )
        results.append(Listed(entry, ADDED, added))
    return results


async def _validate(ports: Ports, entry: Entry, *, check: bool) -> None:
    if not sources.NAME.fullmatch(entry.name):
        raise ConfigError("a name has up to 64 letters, digits, dots, dashes or underscores")
    kind = ports.kinds.named(entry.type)
    values = parameters.read(kind.params, entry.settings)
    await kind.prepare(ports, entry.url, settings=parameters.complete(kind.params, values), check=check)
