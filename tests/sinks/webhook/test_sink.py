"""The web hook sink: everything arrives, in order, and what arrives twice can be told."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.core.exchange.delivery import LARGEST
from rowen.errors import ConfigError, StoreBusy
from rowen.managing import sources
from rowen.reading import history
from rowen.sinks.announce import Outcome
from tests.support.receiver import Answer, Receiver
from tests.support.sinks import SinkWorld, a_sink_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SinkWorld]:
    async with a_sink_world(tmp_path) as made:
        yield made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


async def test_a_delivery_says_what_changed(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source(version="2.1")
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="# One", b="# Two")
    done = await world.announce()
    assert (done["index"].outcome, done["index"].sent) == (Outcome.SENT, 2)
    (delivery,) = receiver.taken
    assert delivery.headers["Content-Type"] == "application/json"
    assert delivery.json["sink"] == "index"
    assert delivery.json["delivery"] == delivery.id
    first = delivery.json["changes"][0]
    assert first.pop("at").startswith("2026-05-01T12:05:00")
    assert first == {
        "source": "docs",
        "version": "2.1",
        "kind": "web",
        "change": "added",
        "reference": "https://docs.example/a",
        "url": "https://docs.example/a",
        "title": "a",
        "generation": 1,
        "metadata": {},
    }


async def test_a_new_sink_starts_with_the_next_change(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.show(source, a="one")
    await world.sink("index", "webhook", url=receiver.url)
    await world.sink("all", "webhook", url=receiver.url, start="beginning")
    done = await world.announce()
    assert (done["index"].outcome, done["all"].sent) == (Outcome.NOTHING, 1)
    await world.show(source, b="two")
    done = await world.announce()
    assert (done["index"].sent, done["all"].sent) == (1, 1)


async def test_what_was_taken_is_not_sent_again(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    await world.announce()
    await world.announce()
    await world.show(source, "a", b="two")
    await world.announce()
    assert [one.changes for one in receiver.asked] == [[("a", "added")], [("b", "added"), ("a", "removed")]]


async def test_where_nothing_waits_nothing_is_written(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    await world.announce()
    before = world.store.rows_written()
    await world.announce()
    assert world.store.rows_written() == before
    assert len(receiver.asked) == 1


async def test_a_delivery_is_signed_over_time_and_body(world: SinkWorld, receiver: Receiver) -> None:
    world.secrets["HOOK"] = "s3cret-value"
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url, secret="${HOOK}")
    await world.show(source, a="one")
    await world.announce()
    (delivery,) = receiver.taken
    timestamp = delivery.headers["X-Rowen-Timestamp"]
    assert int(timestamp) == int(world.clock.now().timestamp())
    expected = hmac.new(b"s3cret-value", timestamp.encode() + b"." + delivery.body, hashlib.sha256)
    assert delivery.headers["X-Rowen-Signature"] == f"sha256={expected.hexdigest()}"


async def test_without_a_secret_nothing_is_signed(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    await world.announce()
    assert "X-Rowen-Signature" not in receiver.taken[0].headers


async def test_a_secret_that_is_not_set_is_said_and_nothing_sent(
    world: SinkWorld, receiver: Receiver
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url, secret="${HOOK}")
    await world.show(source, a="one")
    done = await world.announce()
    assert isinstance(done["index"].error, ConfigError)
    assert "variable `HOOK`: not set" in ((await world.stored("index")).last_error or "")
    assert receiver.asked == []


async def test_headers_of_the_operator_go_along(world: SinkWorld, receiver: Receiver) -> None:
    world.secrets |= {"KEY": "key-value", "TOKEN": "token-value"}
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url, header={"X-Api-Key": "${KEY}"}, bearer="${TOKEN}")
    await world.show(source, a="one")
    await world.announce()
    headers = receiver.taken[0].headers
    assert (headers["X-Api-Key"], headers["Authorization"]) == ("key-value", "Bearer token-value")


async def test_the_text_goes_along_when_it_is_wanted(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url, text=True)
    await world.show(source, a="# One\n\nWords.", b="two")
    await world.announce()
    await world.show(source, "b", c="three")
    await world.announce()
    texts = [{one["reference"][-1]: one["text"] for one in d.json["changes"]} for d in receiver.taken]
    assert texts == [{"a": "# One\n\nWords.", "b": "two"}, {"c": "three", "b": None}]


async def test_only_the_wanted_sources_are_told(world: SinkWorld, receiver: Receiver) -> None:
    await world.sink("index", "webhook", url=receiver.url, sources=["doc*", "api@2"])
    for name, version in (("docs", ""), ("api", "1"), ("api", "2"), ("news", "")):
        await world.show(await world.source(name, version), a=f"{name} {version}")
    done = await world.announce()
    assert done["index"].sent == 2
    told = [(one["source"], one.get("version")) for d in receiver.taken for one in d.json["changes"]]
    assert told == [("docs", None), ("api", "2")]
    before = world.store.rows_written()
    assert (await world.announce())["index"].outcome is Outcome.NOTHING
    assert world.store.rows_written() == before


async def test_a_sink_whose_sources_do_not_exist_yet_waits_for_them(
    world: SinkWorld, receiver: Receiver
) -> None:
    await world.sink("index", "webhook", url=receiver.url, sources=["later"])
    await world.show(await world.source(), a="one")
    assert (await world.announce())["index"].outcome is Outcome.NOTHING
    await world.show(await world.source("later"), b="two")
    assert (await world.announce())["index"].sent == 1


async def test_many_changes_go_in_deliveries_of_a_hundred(world: SinkWorld, receiver: Receiver) -> None:
    source, other = await world.source(), await world.source("other")
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(other, z="z")
    await world.show(source, **{f"p{n:03}": f"text {n}" for n in range(250)})
    done = await world.announce()
    assert done["index"].sent == 251
    assert [len(one.changes) for one in receiver.taken] == [1, 100, 100, 50]
    assert max(map(len, [one.changes for one in receiver.taken])) <= LARGEST
    assert len(set(receiver.changes)) == 251


async def test_a_crash_between_sending_and_saving_is_recognised_by_the_delivery(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, **{f"p{n:03}": f"text {n}" for n in range(120)})
    with monkeypatch.context() as patched:
        patched.setattr(world.store, "move_sink", _crash)
        with pytest.raises(asyncio.CancelledError):
            await world.announce()
    assert len(receiver.taken) == 1
    # What happens in between must not change what the same delivery is about.
    await world.show(source, "p000", q="more")
    await world.announce()
    ids = [one.id for one in receiver.taken]
    assert ids[0] == ids[1]
    assert len(set(ids)) == len(ids) - 1 == 3
    assert receiver.taken[0].json["cursor"] == receiver.taken[1].json["cursor"]
    last = dict(receiver.changes)
    assert (len(last), last["p000"], last["q"]) == (121, "removed", "added")


async def test_a_crash_in_the_second_delivery_repeats_only_that_one(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, other = await world.source(), await world.source("other")
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(other, **{f"o{n}": f"text {n}" for n in range(60)})
    await world.show(source, **{f"p{n}": f"text {n}" for n in range(80)})
    moves, real = 0, world.store.move_sink

    async def crash_on_the_second(*arguments: Any, **named: Any) -> None:
        nonlocal moves
        moves += 1
        await (real(*arguments, **named) if moves == 1 else _crash())

    with monkeypatch.context() as patched:
        patched.setattr(world.store, "move_sink", crash_on_the_second)
        with pytest.raises(asyncio.CancelledError):
            await world.announce()
    await world.announce()
    assert [len(one.changes) for one in receiver.taken] == [60, 80, 80]
    assert receiver.taken[1].id == receiver.taken[2].id


async def test_a_store_that_is_busy_for_a_moment_costs_one_repetition(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    real, calls = world.store.move_sink, 0

    async def busy_once(*arguments: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise StoreBusy("the store is busy")
        await real(*arguments, **named)

    monkeypatch.setattr(world.store, "move_sink", busy_once)
    done = await world.announce()
    assert done["index"].outcome is Outcome.SENT
    assert len({one.id for one in receiver.taken}) == 1


async def test_a_server_error_is_tried_three_times_then_written_down(
    world: SinkWorld, receiver: Receiver
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers += [Answer(500), Answer(0), Answer(503)]
    done = await world.announce()
    assert done["index"].outcome is Outcome.FAILED
    assert world.clock.waits == [1.0, 2.0]
    stored = await world.stored("index")
    assert stored.failures == 1
    assert f"`{receiver.url}`: 503 from the receiver" in (stored.last_error or "")
    await world.show(source, b="two")
    assert (await world.announce())["index"].sent == 2
    assert receiver.changes == [("a", "added"), ("b", "added")]
    stored = await world.stored("index")
    assert (stored.failures, stored.last_error) == (0, None)


async def test_progress_in_between_earns_new_attempts(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url, batch=1)
    await world.show(source, **{f"p{n}": f"text {n}" for n in range(4)})
    receiver.answers += [Answer(500), Answer(200), Answer(500), Answer(500), Answer(200), Answer(500)]
    done = await world.announce()
    assert done["index"].outcome is Outcome.SENT
    assert len(receiver.changes) == len(receiver.taken) == 4


async def test_a_receiver_that_is_down_for_long_gets_everything_later(
    world: SinkWorld, receiver: Receiver
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    for number in range(6):
        await world.show(source, **{f"p{number}": "text"})
        receiver.answers = [Answer(0)] * 3
        await world.announce()
        world.clock.advance(10)
    # From the third failure in a row on it is left alone for a while.
    assert len(receiver.asked) == 9
    assert (await world.announce())["index"].outcome is Outcome.WAITS
    receiver.answers = []
    world.clock.advance(60)
    assert (await world.announce())["index"].outcome is Outcome.SENT
    assert receiver.changes == [(f"p{n}", "added") for n in range(6)]


async def test_somebody_who_names_a_resting_sink_has_it_tried(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers += [Answer(500)] * 9
    for _ in range(3):
        await world.announce()
    assert (await world.announce())["index"].outcome is Outcome.WAITS
    assert (await world.announce("index"))["index"].outcome is Outcome.SENT


async def test_a_short_retry_after_is_waited_for(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers.append(Answer(429, {"Retry-After": "7"}))
    assert (await world.announce())["index"].outcome is Outcome.SENT
    assert world.clock.waits == [7.0]


async def test_a_long_retry_after_leaves_the_sink_alone_until_then(
    world: SinkWorld, receiver: Receiver
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers.append(Answer(429, {"Retry-After": "600"}))
    done = await world.announce()
    assert done["index"].outcome is Outcome.FAILED
    assert done["index"].until == world.clock.now() + timedelta(seconds=600)
    before = world.store.rows_written()
    for only in ((), ("index",)):
        assert (await world.announce(*only))["index"].outcome is Outcome.WAITS
    assert (len(receiver.asked), world.clock.waits) == (1, [])
    assert world.store.rows_written() == before
    world.clock.advance(601)
    assert (await world.announce())["index"].outcome is Outcome.SENT
    assert (await world.stored("index")).state == {}


async def test_a_receiver_that_is_gone_is_not_asked_again(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers.append(Answer(410))
    done = await world.announce()
    assert done["index"].error is not None
    assert "it is gone, and nothing is sent there any more" in done["index"].error.message
    await world.show(source, b="two")
    assert (await world.announce())["index"].outcome is Outcome.DISABLED
    assert len(receiver.asked) == 1
    # Another address is another receiver.
    await world.sink("index", "webhook", url=receiver.url + "/new")
    assert (await world.announce())["index"].sent == 2


async def test_a_gone_receiver_is_tried_when_somebody_insists(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers.append(Answer(410))
    await world.announce()
    assert (await world.announce("index", force=True))["index"].sent == 1
    await world.show(source, b="two")
    assert (await world.announce())["index"].sent == 1


@pytest.mark.parametrize("status", [301, 400, 401, 404])
async def test_a_refusal_is_written_down_and_not_repeated_at_once(
    world: SinkWorld, receiver: Receiver, status: int
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one")
    receiver.answers.append(Answer(status))
    assert (await world.announce())["index"].outcome is Outcome.FAILED
    assert len(receiver.asked) == 1
    assert f"{status} from the receiver" in ((await world.stored("index")).last_error or "")
    assert (await world.announce())["index"].outcome is Outcome.SENT


async def test_a_secret_in_the_address_is_in_no_error(world: SinkWorld, receiver: Receiver) -> None:
    world.secrets["HOOK_KEY"] = "very-secret-path"
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url + "/${HOOK_KEY}")
    await world.show(source, a="one")
    receiver.answers += [Answer(0)] * 3 + [Answer(404)]
    for _ in range(2):
        done = await world.announce()
        assert done["index"].error is not None
        for said in (done["index"].error.message, (await world.stored("index")).last_error or ""):
            assert "very-secret-path" not in said
            assert "${HOOK_KEY}" in said


async def test_a_rollback_is_announced_each_reference_once(world: SinkWorld, receiver: Receiver) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one", b="b")
    await world.show(source, a="two")
    await world.show(source, "b", a="three", c="new")
    await world.announce()
    await history.rollback(world.ports, await world.reload(source), to_generation=1)
    await world.announce()
    back = receiver.taken[-1]
    assert sorted(back.changes) == [("a", "changed"), ("b", "changed"), ("c", "removed")]
    assert {one["generation"] for one in back.json["changes"]} == {1}


async def test_what_was_removed_is_told_although_its_history_is_forgotten(
    world: SinkWorld, receiver: Receiver
) -> None:
    source = await world.source()
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(source, a="one", b="b")
    await world.show(source, "a")
    for number in range(4):
        await world.show(source, b=f"b{number}")
    await history.vacuum(world.ports.store, await world.store.sources(), keep=1)
    await world.announce()
    assert dict(receiver.changes)["a"] == "removed"
    removed = next(
        one for d in receiver.taken for one in d.json["changes"] if one["reference"].endswith("/a")
    )
    assert (removed["url"], removed["title"], removed["metadata"]) == ("https://docs.example/a", None, {})


async def _crash(*arguments: Any, **named: Any) -> None:
    """The process ends here: nothing after it is done or written."""
    raise asyncio.CancelledError


async def test_a_removed_source_is_told_once_to_the_sinks_it_matches(
    world: SinkWorld, receiver: Receiver
) -> None:
    source, other = await world.source(version="2"), await world.source("other")
    await world.sink("index", "webhook", url=receiver.url, sources=["docs@*"], text=True)
    await world.sink("others", "webhook", url=receiver.url, sources=["other"])
    await world.show(source, a="one", b="two")
    await world.announce()
    await world.show(source, a="never told")
    await sources.remove(world.ports, source)
    done = await world.announce()
    assert (done["index"].sent, done["others"].sent) == (1, 0)
    (told,) = receiver.taken[-1].json["changes"]
    assert told.pop("at")
    assert told == {
        "source": "docs",
        "version": "2",
        "kind": "web",
        "change": "source_removed",
        "reference": "",
        "url": None,
        "title": None,
        "generation": 2,
        "metadata": {},
        "text": None,
    }
    assert (await world.announce())["index"].outcome is Outcome.NOTHING
    await world.show(await world.source(version="2"), c="new")
    await world.show(other, z="z")
    await world.announce()
    assert sorted(receiver.changes[2:]) == [("", "source_removed"), ("c", "added"), ("z", "added")]
