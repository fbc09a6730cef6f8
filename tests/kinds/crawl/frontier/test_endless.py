"""Endless spaces of addresses: they come last, they get a bounded share, and what is left out is counted."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rowen.kinds.crawl.frontier.endless import repeats_itself, shape
from tests.support.paper_site import ROOT, PaperSite, Reader

REAL = {f"{ROOT}{n}/{n}/page": [f"{ROOT}{n + 1}/{n + 1}/page"] for n in range(8)} | {f"{ROOT}8/8/page": []}
"""A row of pages, each a link deeper than the one before."""


def calendar(months: int) -> dict[str, list[str]]:
    def month(number: int) -> str:
        return f"{ROOT}cal?month={2000 + number // 12}-{number % 12 + 1:02}"

    return {month(n): [ROOT, month(n + 1), *([month(n - 1)] if n else [])] for n in range(months)}


def sessions(pages: int, rounds: int) -> dict[str, list[str]]:
    """Every answer names a new session on all of its links."""
    site: dict[str, list[str]] = {}
    last = 1
    for session in range(1, rounds):
        for page in range(pages):
            last += 1
            site[f"{ROOT}p{page}?sid=s{session}"] = [f"{ROOT}p{other}?sid=s{last}" for other in range(pages)]
    return site


def nested(depth: int) -> dict[str, list[str]]:
    paths = [f"{ROOT}{'a/b/' * n}a" for n in range(depth)]
    return {path: [after] for path, after in pairwise(paths)}


TRAPS = {
    "a calendar": (calendar(3000), f"{ROOT}cal?month=2000-01"),
    "new sessions": (sessions(6, 400), f"{ROOT}p0?sid=s1"),
    "a path that repeats itself": (nested(1200), f"{ROOT}a"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_does_not_eat_the_pages_of_a_generation(trap: str) -> None:
    pages, entry = TRAPS[trap]
    site = PaperSite({ROOT: [entry, next(iter(REAL))], **REAL, **pages})
    reader, first = Reader(100), None
    for order in ([], [3, 1, 4, 1, 5]):
        frontier = reader.run(site, order, at_a_time=4)
        assert set(REAL) <= set(reader.pages), "pages that are no trap come first"
        assert len(reader.pages) <= 80, "the trap gets a bounded share"
        assert frontier.ignored["looks_endless"] >= 1, "what was left out is counted"
        first = first or dict(reader.pages)
        assert reader.pages == first, "and the same pages are taken each time"


@pytest.mark.parametrize("trap", TRAPS)
def test_at_a_small_limit_real_pages_are_not_displaced_by_a_trap(trap: str) -> None:
    pages, entry = TRAPS[trap]
    links = [entry, *(f"{ROOT}n{n}" for n in range(10)), next(iter(REAL))]
    site = PaperSite({ROOT: links, **{url: [] for url in links[1:-1]}, **REAL, **pages})
    reader = Reader(60)
    reader.run(site)
    assert set(REAL) <= set(reader.pages)


def test_pages_of_a_list_that_lead_to_other_pages_are_no_trap() -> None:
    site: dict[str, list[str]] = {ROOT: [f"{ROOT}list?page=1"]}
    for page in range(1, 120):
        items = [f"{ROOT}item/{page * 10 + n}" for n in range(10)]
        site |= {
            f"{ROOT}list?page={page}": [*items, f"{ROOT}list?page={page + 1}"],
            **{url: [] for url in items},
        }
    reader = Reader(20_000)
    frontier = reader.run(PaperSite(site))
    assert set(reader.pages) == set(site)
    assert "looks_endless" not in frontier.ignored


def test_a_book_that_is_read_page_by_page_is_taken_in_whole() -> None:
    site = {f"{ROOT}{n or ''}": [f"{ROOT}{n + 1}"] for n in range(300)}
    reader = Reader(20_000)
    reader.run(PaperSite(site))
    assert set(reader.pages) == set(site)


def test_parameters_that_every_page_has_are_no_session() -> None:
    site: dict[str, list[str]] = {ROOT: [f"{ROOT}item?id={n}" for n in range(50)]}
    for n in range(50):
        more = [f"{ROOT}{name}?id={n}" for name in ("reviews", "sizes", "shops")]
        site |= {f"{ROOT}item?id={n}": more, **{url: [ROOT] for url in more}}
    reader = Reader(1_000)
    frontier = reader.run(PaperSite(site))
    assert set(reader.pages) == set(site)
    assert not frontier.ignored


def test_shapes_and_repetition() -> None:
    assert shape(f"{ROOT}cal/2031/05?day=3&view=week") == f"{ROOT}cal/#/#?day&view"
    assert shape(f"{ROOT}doc/0b9f6a1e-4c55-4c5e-9d6f-1c2b3a4d5e6f") == f"{ROOT}doc/#?"
    assert repeats_itself(f"{ROOT}a/b/a/b/a")
    assert not repeats_itself(f"{ROOT}a/b/a")
    assert not repeats_itself(f"{ROOT}///")


def test_other_names_of_a_session_get_no_seat_once_they_are_recognised() -> None:
    pages, entry = TRAPS["new sessions"]
    reader = Reader(1_000)
    frontier = reader.run(PaperSite({ROOT: [entry, next(iter(REAL))], **REAL, **pages}))
    assert len(reader.pages) == 1 + len(REAL) + 1 + 6, (
        "the root, real pages, the entry, and one page of each name"
    )
    assert frontier.ignored == {"looks_endless": 36}


def test_a_long_book_that_only_leads_from_page_to_page_can_be_taken_in_whole() -> None:
    site = PaperSite({f"{ROOT}{n or ''}": [f"{ROOT}{n + 1}"] for n in range(900)})
    cautious, told = Reader(20_000), Reader(20_000, max_endless=20_000)
    frontier = cautious.run(site)
    assert len(cautious.pages) < 900, "its pages look like those of a calendar"
    assert frontier.ignored["looks_endless"] == 1
    frontier = told.run(site)
    assert set(told.pages) == set(site.links)
    assert "looks_endless" not in frontier.ignored


def test_no_page_of_an_endless_series_is_taken_where_the_setting_is_zero() -> None:
    pages, entry = TRAPS["a calendar"]
    reader = Reader(1_000, max_endless=0)
    reader.run(PaperSite({ROOT: [entry, next(iter(REAL))], **REAL, **pages}))
    assert len(reader.pages) < 1 + len(REAL) + 20, "only the first of the row, before it looked endless"
