"""Subscribe, list subscriptions, and unsubscribe. A subscription is a sink, and is sent to like one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from rowen.core import hashing
from rowen.core.exchange.sink import SUBSCRIPTION, Sink, SinkEntry
from rowen.core.safety.addresses import is_public, parse_address
from rowen.core.source import API
from rowen.engine import confine
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, Conflict, NotFound
from rowen.ports.store.feed import Feed
from rowen.service.subscriptions.sink import ORIGIN, asked, check
from rowen.sinks import announce, declared


async def subscribe(
    ports: Ports,
    *,
    name: str | None,
    sources: Sequence[str],
    settings: Mapping[str, str],
    over_network: bool = False,
) -> Sink:
    """Store it and look up the answer of now: the receiver is told of changes from here on.

    A subscription that came over the network tells public addresses alone, and uses the variables that the
    operator allows. Raises `ConfigError`, and `Conflict` when the name is taken.
    """
    given = {key: value for key, value in settings.items() if value}
    if over_network:
        _check_network(ports, given)
    name = name or _name(given, sources)
    table = {"name": name, "kind": SUBSCRIPTION, **given, **({"sources": list(sources)} if sources else {})}
    (entry,) = declared.read([table], where="subscription")
    values = check(ports, SinkEntry(name=entry.name, kind=entry.kind, settings=entry.settings))
    if any(sink.name == name for sink in await ports.store.sinks()):
        raise Conflict(
            f"subscription `{name}`: there is one of that name", hint=f"rowen unsubscribe {name}", name=name
        )
    if over_network:
        values[ORIGIN] = API
    end = await ports.store.feed_end()
    await ports.store.save_sink(name, kind=SUBSCRIPTION, settings=values, cursor=end)
    made = await find(ports.store, name)
    done = await announce.send_to(ports, made, insists=True)
    if done.error is not None:
        await ports.store.remove_sink(name)
        raise done.error
    return await find(ports.store, name)


def _check_network(ports: Ports, settings: Mapping[str, str]) -> None:
    """What can be refused at once; where a name leads is looked at with every message."""
    confine.check_variables(ports, settings)
    if settings.get("file"):
        raise ConfigError("setting `file`: only the operator of this machine names files", setting="file")
    try:
        address = parse_address(urlsplit(settings.get("url", "")).hostname or "")
    except ValueError:
        return
    if not is_public(address) and not ports.fetch.allow_private:
        raise ConfigError(
            f"setting `url`: `{address}` is not a public address, and the subscription came over the network",
            hint="the operator of this machine may subscribe with `rowen subscribe`",
            setting="url",
        )


async def subscriptions(store: Feed) -> list[Sink]:
    return [sink for sink in await store.sinks() if sink.kind == SUBSCRIPTION]


async def find(store: Feed, name: str) -> Sink:
    found = await subscriptions(store)
    for sink in found:
        if sink.name == name:
            return sink
    known = ", ".join(f"`{sink.name}`" for sink in found)
    raise NotFound(
        f"subscription `{name}`: no such subscription",
        hint=f"there are {known}" if known else "make one with `rowen subscribe`",
        name=name,
    )


async def unsubscribe(store: Feed, name: str) -> None:
    await find(store, name)
    await store.remove_sink(name)


def _name(settings: Mapping[str, str], sources: Sequence[str]) -> str:
    """One that says a little, and is the same for the same subscription."""
    way, wanted = (
        asked(settings) if any(map(settings.get, ("path", "heading", "symbol", "question"))) else ("", "")
    )
    words = "-".join("".join(one if one.isascii() and one.isalnum() else " " for one in wanted).split())[:40]
    digest = hashing.of_mapping({**settings, "sources": list(sources)}).hex()[:4]
    return "-".join(filter(None, (way, words.strip("-"), digest)))
