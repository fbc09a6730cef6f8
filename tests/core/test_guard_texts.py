"""The guard looks at the texts readers lose, not only at the documents."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rowen.core.generation import Replacement
from rowen.core.rules.guard import must_look, reason_to_hold
from rowen.core.rules.pattern import are_alike, patterns_of

LOREM = "The barley stands on field {n} and is cut in week {n} by the people of farm {name}."
NAMES = ["oat", "rye", "wheat", "millet", "spelt", "hops", "flax", "rape", "beet", "kale"]


def replaced(texts: Sequence[tuple[str | None, str]]) -> list[Replacement]:
    """From pairs of the text before and the text after, of one page each."""
    ids: dict[str, int] = {}
    return [
        Replacement(
            reference=f"https://docs.example/{_name(n)}",
            content=ids.setdefault(after, len(ids)),
            content_before=None if before is None else ids.setdefault(before, len(ids)),
            bytes=len(after.encode()),
            bytes_before=len((before or "").encode()),
            text=after,
            text_before=before,
        )
        for n, (before, after) in enumerate(texts)
    ]


def _name(n: int) -> str:
    return f"{NAMES[n % 10]}-{NAMES[n // 10 % 10]}"


def a_text(n: int) -> str:
    return LOREM.format(n=n, name=_name(n)) + f" {NAMES[n // 10]} after {NAMES[(n + 2) % 10]}" * 3


def held(before: int, texts: Sequence[tuple[str | None, str]], **more: int) -> str | None:
    return reason_to_hold(
        before=before, deleted=more.get("deleted", 0), max_deleted_share=0.3, replaced=replaced(texts)
    )


def test_many_documents_that_become_one_text_are_held_with_that_text() -> None:
    texts = [(a_text(n), "# Sorry\n\nWe will be back soon") for n in range(61)]
    assert held(82, texts) == "61 of 82 documents would show the same text: `Sorry We will be back soon`"
    assert held(82, texts[:24]) is None, "30 % of 82 are 24.6"


def test_an_error_page_that_repeats_address_and_time_is_one_text() -> None:
    said = "Nothing at /{name} at 12:03:{n}, incident 8f3a{n:02}bc, while the whole site is being rebuilt"
    reason = held(40, [(a_text(n), said.format(n=n, name=_name(n))) for n in range(40)])
    assert reason is not None
    assert "40 of 40 documents would show the same text: `Nothing at" in reason


def test_documents_that_become_empty_are_held() -> None:
    assert held(40, [(a_text(n), "") for n in range(20)]) == "20 of 40 documents would be empty"
    assert held(1, [(a_text(1), "")]), "all of a small source"
    assert held(5, [(a_text(1), "")]) is None


def test_documents_that_lose_most_of_their_text_are_held_though_each_says_something_else() -> None:
    teasers = [(a_text(n) * 9, f"{_name(n)}: log in, {_name(n + 3)} {_name(n * 7)}") for n in range(30)]
    assert held(60, teasers) == "30 of 60 documents would lose most of their text"
    parts = [(None, a_text(n + 40) * 8) for n in range(30)]
    assert held(60, teasers + parts) is None, "the text lives on in new documents"


def test_all_ways_to_lose_a_document_count_together() -> None:
    texts = [(a_text(n), "Log in") for n in range(9)]
    assert held(82, texts, deleted=10) is None
    reason = held(82, [*texts, *((a_text(n), "") for n in range(10, 18))], deleted=10)
    assert reason == (
        "it would remove 10 of 82 documents and 8 of 82 documents would be empty"
        " and 9 of 82 documents would show the same text: `Log in`"
    )


@pytest.mark.parametrize(
    "texts",
    [
        [(a_text(n), f"New: {a_text(n)} {_name(n + 1)}") for n in range(50)],
        [("no description", "No description yet") for _ in range(50)],
        [(f"Station {n}: 17 degrees", f"Station {n} reads: 18 degrees") for n in range(50)],
        [("short", "also short"), ("other", "also short"), *((a_text(n), a_text(n)) for n in range(48))],
    ],
    ids=["a redesign", "equal from the beginning", "rows of one table", "two became one"],
)
def test_a_change_that_loses_nothing_is_not_held(texts: list[tuple[str | None, str]]) -> None:
    assert held(50, texts) is None


def test_a_small_source_is_held_only_when_all_of_it_becomes_one_text() -> None:
    assert held(5, [(a_text(n), "Back soon") for n in range(5)])
    assert held(5, [(a_text(n), "Back soon") for n in range(4)]) is None
    assert held(2, [(a_text(n), "Back soon") for n in range(2)]) is None
    assert held(1, [(a_text(1), "A new text")]) is None


def test_a_start_page_that_says_something_else_and_links_to_nothing_is_held() -> None:
    soon = (a_text(1), "Back soon")
    assert held(5, [soon], deleted=4) == "it would remove 4 of 5 documents, and what is left says `Back soon`"
    assert held(5, [soon, (None, a_text(2))], deleted=4) is None, "a small site, made anew"
    assert held(2, [soon], deleted=1) is None
    reason = held(50, [soon], deleted=49)
    assert reason == "it would remove 49 of 50 documents, more than 30%, and what is left says `Back soon`"


def test_the_guard_looks_at_texts_only_when_enough_changed() -> None:
    assert not must_look(before=1000, touched=0, max_deleted_share=0.3)
    assert not must_look(before=1000, touched=300, max_deleted_share=0.3)
    assert must_look(before=1000, touched=301, max_deleted_share=0.3)
    assert not must_look(before=1000, touched=1000, max_deleted_share=1.0)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("No page /a/quick-start here", "No page /zz here", True),
        ("Nothing found for Quick Start", "Nothing found for zz", True),
        ("This page was moved at 12:30", "This page was moved at 9:05", True),
        ("https://x.example/a/quick-start is gone", "https://x.example/zz is gone", True),
        ("Install it with pip", "Install it with npm", False),
    ],
)
def test_texts_are_alike_but_for_address_and_time(one: str, other: str, alike: bool) -> None:
    first = patterns_of(one, "https://x.example/a/quick-start")
    assert are_alike(first, patterns_of(other, "https://x.example/zz")) is alike
