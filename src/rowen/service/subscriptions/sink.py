"""The sink kind `subscription`: tells a receiver when the answer to one thing changes, and only then.

Only documents that were touched since the last time are looked at; a question is asked again when something
of its sources was. A message is written down with the new answer before it is sent, and sent until it is
taken: after a crash it goes out under the same name, so that a receiver counts it once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rowen.core import hashing
from rowen.core import params as parameters
from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.feed import SOURCE_REMOVED, Chosen, Cursor, Document
from rowen.core.lease import Lease
from rowen.core.search.hit import Filters
from rowen.core.source import API, Source
from rowen.engine import confine, embedding
from rowen.engine.ports import Ports
from rowen.engine.sink_kind import Sent
from rowen.errors import ConfigError, PermanentError
from rowen.reading import search
from rowen.service.subscriptions import rules
from rowen.service.subscriptions.rules import Answer, Entry
from rowen.sinks import declared as sinks
from rowen.sinks.webhook import sink as webhook

ANSWER, PENDING, NUMBER, MESSAGES, ASKED = "answer", "pending", "number", "messages", "asked"
"""In the state of a sink: the answer the receiver knows, a message on its way, how many there were, those in
the file, and for what the answer is."""
ORIGIN = "origin"
"""Among the settings: `api` of a subscription that came over the network."""
MOST_ENTRIES = 2_000
PAGE, TEXTS = 500, 100

PARAMS = (
    sinks.setting(rules.PATH, "", str, "Pages whose path fits this pattern, such as `library/*`"),
    sinks.setting(rules.HEADING, "", str, "Sections with this heading, or heading path"),
    sinks.setting(rules.SYMBOL, "", str, "The definition of this name"),
    sinks.setting(rules.QUESTION, "", str, "The best answer of a search"),
    sinks.setting(
        "file", "", str, f"Write the last {rules.MESSAGES_KEPT} messages here, a line of JSON each"
    ),
    *(spec for spec in webhook.PARAMS if spec.name in ("url", "secret", "timeout_s")),
    *(spec for spec in webhook.PARAMS if spec.name in ("header", "basic", "bearer")),
)


def check(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    """The settings of such a sink. Raises `ConfigError`."""
    values = sinks.checked(PARAMS, entry)
    if sum(bool(values.get(way)) for way in rules.WAYS) != 1:
        raise ConfigError("a subscription is to one of `path`, `heading`, `symbol` and `question`")
    if bool(values.get("url")) == bool(values.get("file")):
        raise ConfigError("a subscription tells either a `url` or a `file`")
    if values.get("file"):
        values["file"] = ports.exports().locate(values["file"])
        ports.exports().check(values["file"], None)
    return values


def asked(settings: Mapping[str, Any]) -> tuple[str, str]:
    """What it is about: `("symbol", "asyncio.gather")`."""
    return next((way, str(settings[way])) for way in rules.WAYS if settings.get(way))


def stale(sink: Sink, sources: Sequence[Source]) -> bool:
    """Is a message on its way, or is the answer not known yet?"""
    return PENDING in sink.state or sink.state.get(ASKED) != list(asked(sink.settings))


async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    state, sent = dict(sink.state), 0
    if PENDING in state:
        state, sent = await _delivered(ports, sink, state), 1
    way, wanted = asked(sink.settings)
    end = await ports.store.feed_end()
    known = state.get(ASKED) == [way, wanted]
    before = rules.from_state(state[ANSWER]) if known else {}
    chosen = await sinks.chosen(ports.store, sink.settings)
    touched = await _touched(ports, chosen, sink.cursor, end) if known else None
    if touched is not None and not touched:
        return Sent(sent=sent, cursor=end, state=state if sent else None)
    after = await _answer(ports, sink, way, wanted, before, touched)
    changed = rules.changes(way, before, after) if known else []
    state |= {ANSWER: rules.to_state(after), ASKED: [way, wanted]}
    if changed:
        now = ports.clock.now()
        number = state.get(NUMBER, 0) + 1
        message = rules.message(sink.name, way, wanted, changed, number=number, at=now.isoformat())
        state |= {NUMBER: number, PENDING: message}
        # invariant: the message is written down with the answer it is about, before it is sent.
        await ports.store.move_sink(lease, sink.name, cursor=end, state=state, error=None, now=now)
        state, sent = await _delivered(ports, sink, state), sent + 1
    return Sent(sent=sent, cursor=end, state=state)


async def _delivered(ports: Ports, sink: Sink, state: Mapping[str, Any]) -> dict[str, Any]:
    """Send the message that waits; the state without it. Raises what stopped it."""
    pending = state[PENDING]
    rest = {key: value for key, value in state.items() if key != PENDING}
    file = str(sink.settings.get("file") or "")
    if file:
        messages = [*state.get(MESSAGES, ()), pending][-rules.MESSAGES_KEPT :]
        lines = [json.dumps(one, ensure_ascii=False) for one in messages]
        # Written whole: the same message twice is the same file.
        await ports.exports().write_text(file, "\n".join(lines) + "\n")
        return {**rest, MESSAGES: messages}
    ports = confine.limited(ports) if sink.settings.get(ORIGIN) == API else ports
    receiver = webhook.Receiver(ports, sink.name, parameters.complete(PARAMS, sink.settings))
    content = json.dumps(pending, ensure_ascii=False).encode("utf-8", "backslashreplace")
    async with ports.open_fetcher(receiver.options) as fetcher:
        await receiver.post(fetcher, content, pending["delivery"])
    return rest


async def _touched(
    ports: Ports, chosen: Chosen, after: Cursor, end: Cursor
) -> dict[str, Document | None] | None:
    """What was touched, by source and reference; None when a source was removed, so all is looked at anew."""
    found: dict[str, Document | None] = {}
    while page := await ports.store.feed(after, **chosen, limit=PAGE):
        for item in page:
            if item.change == SOURCE_REMOVED:
                return None
            found[rules.key_of(item.source, item.reference)] = item.document
        after = page[-1].cursor
        if after >= end:
            break
    return found


async def _answer(
    ports: Ports,
    sink: Sink,
    way: str,
    wanted: str,
    before: Answer,
    touched: Mapping[str, Document | None] | None,
) -> Answer:
    sources = sinks.matching(sink.settings, await ports.store.sources())
    if way == rules.QUESTION:
        return await _found(ports, wanted, sources)
    if touched is None:
        answer: Answer = {}
        for source in sources:
            answer |= await _whole(ports, source, way, wanted)
        return _bounded(answer, wanted)
    answer = {key: entry for key, entry in before.items() if key not in touched}
    for source in sources:
        own = {
            one.reference
            for key, one in touched.items()
            if one is not None and key.partition("\n")[0] == source.label
        }
        answer |= await _some(ports, source, way, wanted, sorted(own))
    return _bounded(answer, wanted)


async def _whole(ports: Ports, source: Source, way: str, wanted: str) -> Answer:
    answer: Answer = {}
    after = ""
    while page := await ports.store.documents(source.id, after=after, limit=TEXTS, text=way != rules.PATH):
        after = page[-1].reference
        answer |= _parts(source, way, wanted, page)
    return answer


async def _some(ports: Ports, source: Source, way: str, wanted: str, references: Sequence[str]) -> Answer:
    answer: Answer = {}
    for start in range(0, len(references), TEXTS):
        some = references[start : start + TEXTS]
        page = await ports.store.documents(
            source.id, references=some, limit=len(some), text=way != rules.PATH
        )
        answer |= _parts(source, way, wanted, page)
    return answer


def _parts(source: Source, way: str, wanted: str, documents: Sequence[Document]) -> Answer:
    found = ((one.reference, rules.part(way, wanted, one, location=source.location)) for one in documents)
    return {rules.key_of(source.label, reference): entry for reference, entry in found if entry is not None}


async def _found(ports: Ports, question: str, sources: Sequence[Source]) -> Answer:
    """The best hit of a search; nothing when nothing fits."""
    shown = [one for one in sources if one.active_generation]
    if not shown:
        return {}
    filters = Filters(source_ids=frozenset(one.id for one in shown))
    embedder = await embedding.for_search(ports)
    answer = await search.search(ports.store, embedder, question, limit=1, filters=filters)
    if not answer.hits or not answer.fits:
        return {}
    best = answer.hits[0]
    said = " ".join(best.snippet.split())
    digest = hashing.of_text(f"{best.url}\n{said}").hex()[:32]
    return {rules.key_of("", question): Entry(digest, said[: rules.SAID_CHARS], best.title, best.url)}


def _bounded(answer: Answer, wanted: str) -> Answer:
    if len(answer) > MOST_ENTRIES:
        raise PermanentError(
            f"`{wanted}`: more than {MOST_ENTRIES:,} documents answer to it", hint="subscribe to less"
        )
    return answer
