"""Cutting in child processes: the same sections as here, and what a child that fails costs."""

from __future__ import annotations

import asyncio
import io
import struct
import sys
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.children.pool import ChildPool
from rowen.adapters.split import frames
from rowen.adapters.split.pool import (
    AT_ONCE,
    WORTH_A_CHILD,
    WORTH_ASKING,
    PoolSplitter,
    shared_out,
    split_here,
)
from rowen.core.section import Section
from rowen.core.split import split

pytestmark = pytest.mark.anyio

PAGE = """Before any heading.

# Grain {#grain}

Barley, [rye](https://example.org/rye) and oats.

#### `sow(field, *seeds)` {#grain.sow .function}

Sows them.

| field | seed |
| --- | --- |
| north | rye |

<!-- /grain.sow -->

After the definition.

## Details {#details .details}

Tags: cereal.
"""
DYING = "import sys; sys.stdout.write('rowen\\n'); sys.stdout.flush(); sys.stdin.buffer.read(4)"


def a_harvest(texts: int = 3) -> list[str]:
    """Enough to be worth a child."""
    return [
        f"{PAGE}\n## Year {number}\n\n" + "rain " * (WORTH_A_CHILD // 5 // texts) for number in range(texts)
    ]


@pytest.fixture
async def splitter() -> AsyncIterator[PoolSplitter]:
    made = PoolSplitter(2)
    yield made
    await made.close()


def there_and_back(texts: list[str]) -> list[list[Section]] | None:
    asked = frames.read_request(io.BytesIO(frames.request(texts)))
    assert asked == texts
    return frames.read_answer(frames.answer(asked), texts)


async def test_children_make_the_same_sections_in_the_same_order(splitter: PoolSplitter) -> None:
    texts = ["", *a_harvest(), "One line.", " \n"]
    assert await splitter.split(texts) == [split(text) for text in texts]


@given(st.lists(st.text(st.sampled_from("#`~=|- \n\r\t{}.abc[]()*\\é大\u2028\0"), max_size=120), max_size=4))
def test_a_frame_holds_the_sections_of_any_text(texts: list[str]) -> None:
    assert there_and_back(texts) == [split(text) for text in texts]


def test_a_frame_holds_every_fact_of_a_section() -> None:
    assert there_and_back([PAGE]) == [split(PAGE)]
    found = split(PAGE)
    # None of these facts is missing from the text above.
    assert {one.form for one in found} >= {"prose", "table", "details"}
    assert any(one.symbol for one in found)
    assert any(one.link_share for one in found)
    assert any(one.parent is not None for one in found)


def test_half_of_a_surrogate_pair_in_a_text_is_kept_and_in_a_heading_is_not_answered() -> None:
    assert there_and_back(["# Grain\n\nhalf \ud800 a pair"]) == [split("# Grain\n\nhalf \ud800 a pair")]
    assert there_and_back(["# half \ud800 a pair\n\nGrain."]) is None


async def test_what_a_child_cannot_say_is_cut_here(splitter: PoolSplitter) -> None:
    texts = ["# half \ud800 a pair\n\nGrain.", *a_harvest()]
    assert await splitter.split(texts) == [split(text) for text in texts]


async def test_few_texts_start_no_child_and_later_ones_do_not_ask_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    whole = ChildPool.ask

    async def ask(self: ChildPool, request: bytes, *args: object, **named: object) -> object:
        asked.append(request)
        return await whole(self, request, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(ChildPool, "ask", ask)
    splitter = PoolSplitter(1)
    short = "rain " * (WORTH_ASKING // 10)
    assert await splitter.split([short]) == [split(short)]
    assert await splitter.split([PAGE] * 3) == [split(PAGE)] * 3
    assert asked == []
    await splitter.split(a_harvest())
    assert len(asked) >= 1
    before = len(asked)
    await splitter.split([short])
    assert len(asked) == before
    await splitter.close()


async def test_without_children_everything_is_cut_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowen.adapters.children.pool.ChildPool", lambda *_, **__: pytest.fail("a child"))
    splitter = PoolSplitter(0)
    assert await splitter.split(a_harvest()) == [split(text) for text in a_harvest()]
    await splitter.close()


@pytest.mark.parametrize("child", [DYING, "raise SystemExit", "print('rowen')\nprint('!' * 99)"])
async def test_a_child_that_fails_costs_its_texts_nothing(child: str) -> None:
    splitter = PoolSplitter(1, command=(sys.executable, "-c", child))
    assert await splitter.split(a_harvest()) == [split(text) for text in a_harvest()]
    await splitter.close()


async def test_a_cancelled_caller_leaves_a_splitter_that_works(splitter: PoolSplitter) -> None:
    asking = asyncio.create_task(splitter.split(a_harvest()))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert await splitter.split(a_harvest()) == [split(text) for text in a_harvest()]


@pytest.mark.parametrize(
    "payload",
    [
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 2) + b"{}",
        struct.pack(">I", 4) + b"[[]]",
        struct.pack(">I", 7) + b"[[[],[" ,
        frames.answer([PAGE])[:-1],
        frames.answer([PAGE])[:-32],
        frames.answer([PAGE]) + bytes(32),
        frames.answer([PAGE, PAGE]),
    ],
)  # fmt: skip
def test_what_are_not_the_sections_of_the_texts_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        frames.read_answer(payload, [PAGE])


def test_a_request_that_ends_early_is_the_last() -> None:
    assert frames.read_request(io.BytesIO()) is None


def test_shares_keep_the_order_and_a_long_text_is_one_by_itself() -> None:
    texts = ["a" * 3, "b" * 3, "c" * 20, "d", "e" * 10]
    assert shared_out(texts, 8) == [["a" * 3, "b" * 3], ["c" * 20], ["d"], ["e" * 10]]


@pytest.mark.parametrize(
    ("texts", "chars", "turns"),
    [(100, AT_ONCE // 20, 5), (10, AT_ONCE * 2, 10), (3, 50, 0)],
    ids=["short texts", "long texts", "a few"],
)
async def test_others_have_their_turn_between_long_texts_and_not_between_short_ones(
    texts: int, chars: int, turns: int
) -> None:
    had = 0

    async def others() -> None:
        nonlocal had
        while True:
            await asyncio.sleep(0)
            had += 1

    waiting = asyncio.create_task(others())
    await asyncio.sleep(0)
    found = await split_here(["rain " * (chars // 5)] * texts)
    waiting.cancel()
    assert len(found) == texts
    assert had == turns
