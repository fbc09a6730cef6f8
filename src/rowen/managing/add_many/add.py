"""Adding all the portals of a list.

Of a list that a person wrote everything is checked before anything is added. A register that others keep has
portals that are gone: each is looked at by itself, and what is wrong with one is said of it alone.

`origin` is `core.source.LIST` for a list that was read from an address: the operator did not type what stands
in it, so its sources reach nothing private and no variable that was not allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

from rowen.core import params as parameters
from rowen.core.run import Counters
from rowen.engine import confine
from rowen.engine.ports import Ports
from rowen.engine.tasks import each
from rowen.errors import ConfigError, PermanentError, RowenError, TransientError, UserError
from rowen.kinds.api import asking
from rowen.kinds.api.settings import SHARED
from rowen.managing import sources
from rowen.managing.add_many.rules import Entry
from rowen.managing.sources import Added
from rowen.records import dataclass

ADDED, EXISTS, DISABLED, REFUSED = "added", "exists", "disabled", "refused"
AT_ONCE = 8
"""Portals of a register that are asked at a time."""
NO_PORTALS = ("web", "llms")
"""What a site is when no family of portals answers there."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What became of one entry of a list."""

    entry: Entry
    outcome: str
    added: Added | None = None
    why: str = ""
    """Why it was refused."""


async def fetched(ports: Ports, url: str) -> str:
    """The text of a list that has an address. Raises `UserError`."""
    settings = parameters.complete(SHARED, {})
    try:
        async with asking.open_api(ports, url, settings, Counters()) as client:
            response = await client.ask(url, accept="application/json, text/csv, */*;q=0.5")
    except (TransientError, PermanentError) as exc:
        raise UserError(f"list `{url}`: {exc.message}", hint=exc.hint) from exc
    if response.status != 200:
        raise UserError(f"list `{url}`: {response.status} from the server")
    return response.body.decode("utf-8", "replace")


async def add_register(
    ports: Ports, entries: Sequence[Entry], *, check: bool, origin: str | None = None
) -> list[Listed]:
    """Add what can be added, in the order of the list. With `check`, or without a type, a portal is asked."""
    names = {source.name for source in await ports.store.sources()}
    results: dict[str, Listed] = {}

    async def one(entry: Entry) -> None:
        wanted = check or not entry.type
        results[entry.name] = await _registered(ports, entry, check=wanted, origin=origin)

    await each([entry for entry in entries if entry.name not in names], one, AT_ONCE)
    return [results.get(entry.name) or Listed(entry, EXISTS) for entry in entries]


async def _registered(ports: Ports, entry: Entry, *, check: bool, origin: str | None) -> Listed:
    try:
        given = sources.Given(name=entry.name, kind=entry.type or None, check=check)
        new, findings = await sources.look(ports, entry.url, given, origin=origin)
        if new.kind in NO_PORTALS:
            return Listed(entry, REFUSED, why="no known family of portals answers there")
        source = await ports.store.add_source(new, now=ports.clock.now())
    except RowenError as exc:
        return Listed(entry, REFUSED, why=exc.message)
    return Listed(entry, ADDED, Added(source=source, findings=findings))


async def add_listed(
    ports: Ports, entries: Sequence[Entry], *, check: bool, origin: str | None = None
) -> list[Listed]:
    """Add every enabled entry whose name is free. Raises before the first is added if any cannot be."""
    names = {(source.name, source.version) for source in await ports.store.sources()}
    wanted = [entry for entry in entries if entry.enabled and (entry.name, entry.version) not in names]
    for entry in wanted:
        try:
            await _validate(ports, entry, check=check, origin=origin)
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
            origin=origin,
        )
        results.append(Listed(entry, ADDED, added))
    return results


async def _validate(ports: Ports, entry: Entry, *, check: bool, origin: str | None) -> None:
    if origin is not None:
        confine.check_variables(ports, entry.settings)
        confine.check_ca_file(ports, entry.settings.get("ca_file"))
        ports = confine.limited(ports)
    if not sources.NAME.fullmatch(entry.name):
        raise ConfigError("a name has up to 64 letters, digits, dots, dashes or underscores")
    kind = ports.kinds.named(entry.type)
    values = parameters.read(kind.params, entry.settings)
    await kind.prepare(ports, entry.url, settings=parameters.complete(kind.params, values), check=check)
