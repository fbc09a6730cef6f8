"""Subscriptions: exactly one message for each change of an answer, and none for what brings no news."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rowen.core.exchange.sink import Sink
from rowen.core.feed import Document
from rowen.core.lease import Lease
from rowen.errors import ConfigError, Conflict, NotFound
from rowen.managing import sources
from rowen.managing.registry import rules as registry
from rowen.managing.registry import sinks as registry_sinks
from rowen.reading import history
from rowen.service.subscriptions import rules
from rowen.service.subscriptions.sink import PENDING
from rowen.service.subscriptions.subscribing import subscribe, subscriptions, unsubscribe
from rowen.sinks.announce import Outcome
from tests.support.receiver import Answer, Receiver
from tests.support.sinks import Died, SinkWorld, a_sink_world

pytestmark = pytest.mark.anyio


def function(signature: str, about: str = "Adds a task.") -> str:
    return f"# Tasks\n\nIntro.\n\n## `task()` {{#aio.task .function}}\n\n`{signature}`\n\n{about}\n"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SinkWorld]:
    async with a_sink_world(tmp_path) as made:
        yield made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


async def to(world: SinkWorld, receiver: Receiver, **settings: str) -> Sink:
    return await subscribe(
        world.ports, name="mine", sources=["docs"], settings={"url": receiver.url, **settings}
    )


def said(receiver: Receiver) -> list[dict[str, Any]]:
    """The changes of the messages so far, in order."""
    return [change for one in receiver.taken for change in one.json["changes"]]


# what is told


async def test_a_name_is_told_with_what_differs_in_its_signature(
    world: SinkWorld, receiver: Receiver
) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"), other="# Other\n\nText.\n")
    await to(world, receiver, symbol="aio.task")
    await world.show(docs, tasks=function("task(coro, context=None)"))
    done = await world.announce()
    assert (done["mine"].outcome, done["mine"].sent) == (Outcome.SENT, 1)
    (delivery,) = receiver.taken
    assert delivery.json["subscription"] == "mine"
    assert delivery.json["asks"] == {"symbol": "aio.task"}
    (change,) = delivery.json["changes"]
    assert change["notes"] == ["new parameter `context`"]
    assert (change["before"], change["after"]) == ("task(coro)", "task(coro, context=None)")
    assert change["url"] == "https://docs.example/tasks#aio.task"


async def test_a_heading_is_told_when_its_text_changes_comes_or_goes(
    world: SinkWorld, receiver: Receiver
) -> None:
    docs = await world.source()
    await world.show(docs, a="# A\n\nIntro.\n\n## Limits\n\nTen.\n", b="# B\n\nIntro.\n")
    await to(world, receiver, heading="limits")
    await world.show(docs, a="# A\n\nAnother intro.\n\n## Limits\n\nTen.\n")
    await world.announce()
    assert receiver.taken == []
    await world.show(docs, a="# A\n\nIntro.\n\n## Limits\n\nTwelve.\n", b="# B\n\n## Limits\n\nNone.\n")
    await world.announce()
    await world.show(docs, "b")
    await world.announce()
    assert [(one["change"], one["before"], one["after"]) for one in said(receiver)] == [
        ("changed", "Ten.", "Twelve."),
        ("added", None, "None."),
        ("removed", "None.", None),
    ]
    assert len(receiver.taken) == 2


async def test_a_path_is_told_by_its_pages(world: SinkWorld, receiver: Receiver) -> None:
    docs = await world.source()
    await world.show(docs, **{"guide-a": "# A\n\nOne.\n", "other": "# O\n\nTwo.\n"})
    await to(world, receiver, path="guide-*")
    await world.show(docs, **{"guide-b": "# B\n\nNew.\n", "other": "# O\n\nThree.\n"})
    await world.announce()
    assert [(one["change"], one["reference"]) for one in said(receiver)] == [
        ("added", "https://docs.example/guide-b")
    ]


def test_a_path_is_also_the_one_inside_the_location_of_the_source() -> None:
    page = Document(
        id=1, source_id=1, source="python", kind="web", reference="https://docs.example/3/library/re.html",
        url="https://docs.example/3/library/re.html", title="re", metadata={}, content_type="text/html",
        content_hash=b"x", generation=1, born=1, fetched_at=datetime(2026, 5, 1, tzinfo=UTC),
    )  # fmt: skip
    for wanted, fits in (
        ("library/*", True),
        ("3/library/*", True),
        ("/3/library/*", True),
        ("re.html", False),
    ):
        found = rules.part("path", wanted, page, location="https://docs.example/3/")
        assert (found is not None) is fits, wanted
    assert rules.part("path", "library/*", page, location="https://docs.example/3/index.html") is not None


async def test_a_question_is_told_when_its_best_answer_changes(world: SinkWorld, receiver: Receiver) -> None:
    docs = await world.source()
    await world.show(
        docs, plums="# Plums\n\nKeep plums cool until October.\n", oats="# Oats\n\nSow oats early.\n"
    )
    await to(world, receiver, question="keep plums cool until")
    await world.show(docs, oats="# Oats\n\nSow oats late.\n")
    await world.announce()
    assert receiver.taken == []
    await world.show(docs, plums="# Plums\n\nKeep plums cool until May.\n")
    await world.announce()
    (change,) = said(receiver)
    assert "May" in change["after"]
    assert "October" in change["before"]


async def test_a_source_that_is_removed_takes_its_answers_with_it(
    world: SinkWorld, receiver: Receiver
) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"))
    await to(world, receiver, symbol="aio.task")
    await sources.remove(world.ports, await world.reload(docs))
    await world.announce()
    assert [one["change"] for one in said(receiver)] == ["removed"]


async def test_a_rollback_is_a_change_of_the_answer_too(world: SinkWorld, receiver: Receiver) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"))
    await world.show(docs, tasks=function("task(coro, context=None)"))
    await to(world, receiver, symbol="aio.task")
    await history.rollback(world.ports, await world.reload(docs), to_generation=1)
    await world.announce()
    assert [one["notes"] for one in said(receiver)] == [["parameter `context` removed"]]


# exactly once


async def test_without_news_nothing_is_sent_asked_or_written(world: SinkWorld, receiver: Receiver) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"))
    await to(world, receiver, question="adds a task")
    await world.announce()
    written, asked = world.store.rows_written(), len(world.ports.embedder().queries)  # type: ignore[attr-defined]
    done = await world.announce()
    assert done["mine"].outcome is Outcome.NOTHING
    assert world.store.rows_written() == written
    assert len(world.ports.embedder().queries) == asked  # type: ignore[attr-defined]
    assert receiver.taken == []


async def test_several_changes_between_two_looks_are_one_message(
    world: SinkWorld, receiver: Receiver
) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"))
    await to(world, receiver, symbol="aio.task")
    await world.show(docs, tasks=function("task(coro, a)"))
    await world.show(docs, tasks=function("task(coro, a, b)"))
    await world.announce()
    assert [one["notes"] for one in said(receiver)] == [["new parameter `a`", "new parameter `b`"]]
    await world.show(docs, tasks=function("task(coro, a, b)", "Edited back."))
    await world.show(docs, tasks=function("task(coro, a, b)"))
    await world.announce()
    assert len(receiver.taken) == 1


async def test_a_message_that_was_not_taken_is_sent_again_under_its_name(
    world: SinkWorld, receiver: Receiver
) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"))
    await to(world, receiver, symbol="aio.task")
    await world.show(docs, tasks=function("task(coro, a)"))
    receiver.answers += [Answer(500)] * 3
    assert (await world.announce())["mine"].outcome is Outcome.FAILED
    assert PENDING in (await world.stored("mine")).state
    # What changes meanwhile is a message of its own, after it.
    await world.show(docs, tasks=function("task(coro, a, b)"))
    assert (await world.announce("mine"))["mine"].sent == 2
    refused, taken = receiver.asked[:3], receiver.taken
    assert {one.id for one in refused} == {taken[0].id}
    assert [one["notes"] for one in said(receiver)] == [["new parameter `a`"], ["new parameter `b`"]]
    assert [one.json["number"] for one in taken] == [1, 2]


async def die_after_sending(world: SinkWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that announces dies when the message was taken and before it is written down."""
    move, moves = world.store.move_sink, 0

    async def dying(lease: Lease, name: str, **given: Any) -> None:
        nonlocal moves
        moves += 1
        if moves == 2:
            raise Died
        await move(lease, name, **given)

    monkeypatch.setattr(world.store, "move_sink", dying)
    with pytest.raises(Died):
        await world.announce()
    monkeypatch.undo()
    world.clock.advance(120)


async def test_a_crash_after_the_message_was_taken_sends_it_again_under_the_same_name(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = await world.source()
    await world.show(docs, tasks=function("task(coro)"))
    await to(world, receiver, symbol="aio.task")
    await world.show(docs, tasks=function("task(coro, a)"))
    await die_after_sending(world, monkeypatch)
    await world.show(docs, tasks=function("task(coro, a, b)"))
    await world.announce()
    ids = [one.id for one in receiver.taken]
    assert len(ids) == 3
    assert ids[0] == ids[1] != ids[2]
    assert [one["notes"] for one in said(receiver)][1:] == [["new parameter `a`"], ["new parameter `b`"]]


async def test_a_file_has_each_message_once_after_a_crash(
    world: SinkWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, file = await world.source(), tmp_path / "told.jsonl"
    await world.show(docs, tasks=function("task(coro)"))
    await subscribe(
        world.ports, name="mine", sources=["docs"], settings={"symbol": "aio.task", "file": str(file)}
    )
    assert not file.exists()
    await world.show(docs, tasks=function("task(coro, a)"))
    await die_after_sending(world, monkeypatch)
    await world.announce()
    await world.show(docs, tasks=function("task(coro)"))
    await world.announce()
    told = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["number"] for one in told] == [1, 2]
    assert datetime.fromisoformat(told[0]["at"]).tzinfo is not None


# subscribing


async def test_subscriptions_are_listed_and_removed(world: SinkWorld, receiver: Receiver) -> None:
    await world.source()
    made = await subscribe(
        world.ports, name=None, sources=[], settings={"url": receiver.url, "heading": "What's new"}
    )
    assert made.name.startswith("heading-What-s-new-")
    await world.sink("index", "webhook", url=receiver.url)
    assert [one.name for one in await subscriptions(world.store)] == [made.name]
    await unsubscribe(world.store, made.name)
    assert await subscriptions(world.store) == []
    with pytest.raises(NotFound, match="no such subscription"):
        await unsubscribe(world.store, "index")


async def test_what_cannot_be_subscribed_to_is_refused(world: SinkWorld, receiver: Receiver) -> None:
    for settings, words in (
        ({"url": receiver.url}, "one of `path`, `heading`, `symbol` and `question`"),
        ({"url": receiver.url, "path": "a", "symbol": "b"}, "one of `path`"),
        ({"path": "a"}, "either a `url` or a `file`"),
    ):
        with pytest.raises(ConfigError, match=words):
            await subscribe(world.ports, name="x", sources=[], settings=settings)
    await subscribe(world.ports, name="x", sources=[], settings={"url": receiver.url, "path": "a"})
    with pytest.raises(Conflict, match="there is one of that name"):
        await subscribe(world.ports, name="x", sources=[], settings={"url": receiver.url, "path": "b"})


async def test_a_list_of_sinks_leaves_subscriptions_alone(world: SinkWorld, receiver: Receiver) -> None:
    await subscribe(world.ports, name="x", sources=[], settings={"url": receiver.url, "path": "a"})
    assert await registry_sinks.plan(world.ports, ()) == []
    listed = registry.sinks.read(
        [{"name": "x", "kind": "subscription", "path": "b", "url": receiver.url}], where="t"
    )
    (step,) = await registry_sinks.plan(world.ports, listed)
    assert step.action == "change"


async def test_too_broad_a_path_is_refused(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rowen.service.subscriptions import sink

    monkeypatch.setattr(sink, "MOST_ENTRIES", 1)
    docs = await world.source()
    await world.show(docs, a="# A\n\nOne.\n", b="# B\n\nTwo.\n")
    with pytest.raises(Exception, match="more than 1 documents answer to it"):
        await to(world, receiver, path="*")
    assert await subscriptions(world.store) == []


async def test_what_came_over_the_network_tells_no_private_address_names_no_file_and_reads_no_variable(
    world: SinkWorld, receiver: Receiver, tmp_path: Path
) -> None:
    async def over_network(**settings: str) -> Sink:
        return await subscribe(
            world.ports, name="far", sources=[], settings={"path": "*", **settings}, over_network=True
        )

    with pytest.raises(ConfigError, match="not a public address"):
        await over_network(url=receiver.url)
    with pytest.raises(ConfigError, match="only the operator of this machine names files"):
        await over_network(file=str(tmp_path / "messages"))
    with pytest.raises(ConfigError, match="may not be used by sources added by API"):
        await over_network(url="https://hooks.example.org/${HOME}")
    assert await subscriptions(world.store) == []
    # A name can lead anywhere later: it is looked at when a message is sent.
    docs = await world.source()
    await over_network(url=receiver.url.replace("127.0.0.1", "localhost"))
    await world.show(docs, new="# New\n\nText.\n")
    done = await world.announce()
    assert done["far"].outcome is not Outcome.SENT
    assert "private" in str(done["far"].error) or "public" in str(done["far"].error)
    assert receiver.taken == []
