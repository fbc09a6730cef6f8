"""Which pages a generation has is a function of the site: not of order, history or a bad moment."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.paper_site import ROOT, PaperSite, Reader

urls = st.sampled_from(
    [f"{ROOT}{path}" for path in ("a", "b", "c", "a/x", "a/y", "b/x?p=1", "d", "e", "f/g/h")]
)
orders = st.lists(st.integers(0, 7), max_size=30)


@st.composite
def sites(draw: st.DrawFn) -> PaperSite:
    links = draw(st.dictionaries(urls, st.lists(urls, max_size=5, unique=True), max_size=9))
    redirects = draw(st.dictionaries(urls, urls, max_size=3))
    canonical = draw(st.dictionaries(urls, urls, max_size=2))
    return PaperSite(
        {ROOT: draw(st.lists(urls, max_size=4, unique=True)), **links},
        {url: to for url, to in redirects.items() if url != to},
        draw(st.lists(urls, max_size=5)),
        canonical={url: to for url, to in canonical.items() if url != to and to not in canonical},
    )


def fresh(
    site: PaperSite, limit: int, order: list[int] | None = None, at_a_time: int = 1
) -> dict[str, list[str]]:
    reader = Reader(limit)
    reader.run(site, order, at_a_time)
    return reader.pages


@given(sites(), st.integers(1, 9), orders, st.integers(1, 8))
def test_neither_the_order_of_answers_nor_concurrency_changes_the_set(
    site: PaperSite, limit: int, order: list[int], at_a_time: int
) -> None:
    found = fresh(site, limit, order, at_a_time)
    assert found == fresh(site, limit)
    assert len(found) <= limit


@given(sites(), st.integers(1, 9), orders, st.integers(1, 8))
def test_running_twice_equals_running_once(
    site: PaperSite, limit: int, order: list[int], at_a_time: int
) -> None:
    reader = Reader(limit)
    first = reader.run(site)
    before = dict(reader.pages)
    again = reader.run(site, order, at_a_time)
    assert reader.pages == before
    assert again.ignored == first.ignored, "what was left out is the same, too"


@given(sites(), sites(), st.integers(1, 9), orders, st.integers(1, 8))
def test_a_site_that_changed_gives_what_a_first_harvest_of_it_gives(
    before: PaperSite, after: PaperSite, limit: int, order: list[int], at_a_time: int
) -> None:
    # Other names of pages are remembered until the page goes: those a full sync alone asks again.
    before, after = replace(before, canonical={}), replace(after, canonical={})
    reader = Reader(limit)
    reader.run(before)
    reader.run(after, order, at_a_time)
    expected = set(fresh(after, limit))
    kept = set(reader.pages) - expected
    # A known page that redirects to nothing certain stays, and so does what it links to: that is a failure.
    if kept.isdisjoint(after.redirects):
        assert set(reader.pages) == expected


@example(
    PaperSite(
        {ROOT: [], f"{ROOT}a": [], f"{ROOT}b": []}, listed=[f"{ROOT}a"], canonical={f"{ROOT}a": f"{ROOT}b"}
    ),
    2,
    {f"{ROOT}b"},
    [],
)
@given(sites(), st.integers(1, 9), st.sets(urls, max_size=2), orders)
def test_a_page_that_fails_once_changes_nothing_for_good(
    site: PaperSite, limit: int, failing: set[str], order: list[int]
) -> None:
    reader = Reader(limit)
    bad = replace(site, failing=failing)
    reader.run(bad, order)
    expected = fresh(site, limit)
    reader.run(site, order)
    assert reader.pages == expected
    reader.run(bad, order)
    assert reader.pages == expected, "a known page that fails stays"


def test_the_seat_of_a_page_that_failed_is_not_given_away() -> None:
    site = PaperSite({ROOT: [f"{ROOT}{n}" for n in range(9)], **{f"{ROOT}{n}": [] for n in range(9)}})
    reader = Reader(4)
    reader.run(replace(site, failing={f"{ROOT}1"}))
    assert set(reader.pages) == {ROOT, f"{ROOT}0", f"{ROOT}2"}
    reader.run(site)
    assert set(reader.pages) == {ROOT, f"{ROOT}0", f"{ROOT}1", f"{ROOT}2"}


def test_a_sitemap_over_max_pages_gives_the_same_pages_in_every_run() -> None:
    listed = [f"{ROOT}{number}" for number in range(81)]
    site = PaperSite({ROOT: listed[:5], **{url: [] for url in listed}}, listed=listed)
    reader = Reader(60)
    for _ in range(3):
        frontier = reader.run(site)
        assert list(reader.pages)[1:] == listed[:59]
        assert frontier.ignored == {"over_max_pages": 22}
    assert reader.requests == 60


@example(0)
@given(st.integers(0, 40))
def test_a_chain_of_redirects_that_never_ends_is_left_after_a_few(start: int) -> None:
    site = PaperSite(
        {ROOT: [f"{ROOT}z{start}"]}, {f"{ROOT}z{n}": f"{ROOT}z{n + 1}" for n in range(start, 10_000)}
    )
    reader = Reader(50)
    for _ in range(2):
        frontier = reader.run(site)
        assert reader.requests == 7
        settled = frontier.settle(complete=True, keep_orphans=False)
        assert settled.endless == ((f"{ROOT}z{start}", f"{ROOT}z{start + 5}"),)


def test_addresses_that_are_no_page_are_bounded_too() -> None:
    links = {f"{ROOT}{n}": [f"{ROOT}{n}/dead/{m}" for m in range(1000)] for n in range(10)}
    reader = Reader(20)
    frontier = reader.run(PaperSite({ROOT: list(links), **links}))
    assert reader.requests == 11 + 1_000 + 3 * 20
    assert frontier.ignored == {"too_many_misses": 10_000 - 1_060}
