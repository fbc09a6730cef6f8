"""What the outside is told of a change."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange import delivery
from rowen.core.feed import Cursor, FeedItem

AT = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def item(activation: int, number: int, reference: str = "", *, change: str = "removed") -> FeedItem:
    return FeedItem(
        cursor=Cursor(activation, number),
        source_id=1,
        source="docs@3",
        kind="web",
        generation=activation,
        reference=reference or f"r{number}",
        change=change,
        at=AT,
        document=None,
    )


def feed(*sizes: int) -> list[FeedItem]:
    """Activations with so many items."""
    numbers = iter(range(1, sum(sizes) + 1))
    return [item(activation, next(numbers)) for activation, size in enumerate(sizes, 1) for _ in range(size)]


def all_batches(items: list[FeedItem], after: int, size: int) -> list[tuple[Cursor, Cursor]]:
    """The deliveries of a sink that is read to the end, from an item on."""
    done: list[tuple[Cursor, Cursor]] = []
    while page := items[after : after + size]:
        for batch in delivery.batches(page, size=size):
            done.append((batch[0].cursor, batch[-1].cursor))
            after += len(batch)
    return done


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 20), st.data())
def test_deliveries_are_the_same_wherever_a_crash_made_them_start_again(
    sizes: list[int], size: int, data: st.DataObject
) -> None:
    items = feed(*sizes)
    whole = all_batches(items, 0, size)
    assert sum(last.item - first.item + 1 for first, last in whole) == len(items)
    assert all(first.activation == last.activation for first, last in whole)
    # A crash after any delivery, and more activations that were shown before the next start.
    crash = data.draw(st.integers(0, len(whole) - 1))
    more = items + [item(len(sizes) + 1, len(items) + n) for n in range(1, 6)]
    again = all_batches(more, whole[crash][0].item - 1, size)
    assert again[: len(whole) - crash] == whole[crash:]


def test_each_reference_is_told_once_at_its_last_mention() -> None:
    items = [item(1, 1, "a"), item(1, 2, "b"), item(1, 3, "a")]
    assert [one.cursor.item for one in delivery.once_each(items)] == [2, 3]


def test_a_delivery_is_named_after_what_is_in_it() -> None:
    first, last = Cursor(1, 1), Cursor(1, 9)
    name = delivery.delivery_id("index", first, last, at=AT)
    assert name == delivery.delivery_id("index", first, last, at=AT)
    assert len(name) == 32
    others = {
        delivery.delivery_id("other", first, last, at=AT),
        delivery.delivery_id("index", first, Cursor(1, 8), at=AT),
        delivery.delivery_id("index", Cursor(1, 2), last, at=AT),
        # A new store counts from the start, at another time.
        delivery.delivery_id("index", first, last, at=AT + timedelta(seconds=1)),
    }
    assert len(others | {name}) == 5


@pytest.mark.parametrize(
    ("reference", "url"), [("https://docs.example/a", "https://docs.example/a"), ("docs/a.md", None)]
)
def test_what_is_gone_is_told_with_the_address_it_had(reference: str, url: str | None) -> None:
    told = delivery.change(item(4, 1, reference))
    assert (told["url"], told["title"], told["metadata"]) == (url, None, {})
    assert (told["source"], told["version"], told["generation"]) == ("docs", "3", 4)


@given(st.text())
def test_any_text_becomes_a_body_and_comes_back(text: str) -> None:
    body = delivery.body(sink="s", delivery="d", cursor=Cursor(1, 2), changes=[{"title": text}])
    assert json.loads(body)["changes"][0]["title"] == text


def test_half_a_character_still_makes_a_body() -> None:
    body = delivery.body(sink="s", delivery="d", cursor=Cursor(1, 2), changes=[{"title": "x\ud800"}])
    assert json.loads(body.decode("utf-8"))["changes"] == [{"title": "x\ud800"}]


def test_a_signature_covers_the_time_and_the_body() -> None:
    expected = hmac.new(b"key", b"17.{}", hashlib.sha256).hexdigest()
    assert delivery.signature("key", "17", b"{}") == f"sha256={expected}"
    assert delivery.signature("key", "18", b"{}") != f"sha256={expected}"
