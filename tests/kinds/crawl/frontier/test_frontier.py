"""The frontier: every page once, the right depth whatever the order, and no orphan on an error's word."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.document import Known, Validators
from rowen.kinds.crawl.frontier.frontier import Frontier, Visit

Graph = dict[str, list[str]]


def a_known(number: int, url: str, links: list[int], depth: int = 1) -> Known:
    return Known(number, number, url, b"", None, b"", Validators(), depth, array("q", links))


def a_frontier(known: dict[str, Known] | None = None, **options: object) -> Frontier:
    pages = known or {}
    settings: dict[str, object] = {
        "root": "/",
        "known": pages,
        "leftovers": {},
        "ids": {url: page.reference_id for url, page in pages.items()},
        "aliases": {},
        "why_not": lambda url: None,
        "max_depth": None,
        "max_pages": 1000,
    } | options
    return Frontier(**settings)  # type: ignore[arg-type]


def crawl(frontier: Frontier, graph: Graph, order: list[int] | None = None) -> list[str]:
    """Ask for everything, three at a time, answering in the given order."""
    asked: list[str] = []
    under_way: list[Visit] = []
    choices = list(order or [])
    while True:
        while len(under_way) < 3 and (visit := frontier.next()):
            asked.append(visit.url)
            under_way.append(visit)
        if not under_way:
            return asked
        visit = under_way.pop((choices.pop() if choices else 0) % len(under_way))
        if visit.url in graph:
            frontier.document(visit, graph[visit.url])
        else:
            frontier.gone(visit)


def breadth_first(graph: Graph) -> dict[str, int]:
    depths, level = {"/": 0}, ["/"]
    for depth in range(1, len(graph) + 2):
        level = [link for url in level for link in graph.get(url, ()) if link not in depths]
        depths |= dict.fromkeys(level, depth)
    return depths


urls = st.sampled_from([f"/{n}" for n in range(12)])
graphs = st.dictionaries(urls, st.lists(urls, max_size=4), max_size=12).map(
    lambda pages: {"/": ["/0", "/1"], **pages}
)


@given(graphs, st.lists(st.integers(0, 2), max_size=40))
def test_every_reachable_page_is_asked_once_whatever_the_order_of_answers(
    graph: Graph, order: list[int]
) -> None:
    asked = crawl(a_frontier(), graph, order)
    assert len(asked) == len(set(asked))
    assert set(asked) == set(breadth_first(graph))


@given(graphs, st.lists(st.integers(0, 2), max_size=40), st.integers(0, 4))
def test_a_depth_limit_means_the_same_whatever_the_order_of_answers(
    graph: Graph, order: list[int], limit: int
) -> None:
    asked = crawl(a_frontier(max_depth=limit), graph, order)
    assert set(asked) == {url for url, depth in breadth_first(graph).items() if depth <= limit}


@given(graphs, st.lists(st.integers(0, 2), max_size=40), st.integers(1, 6))
def test_no_more_documents_than_the_limit(graph: Graph, order: list[int], limit: int) -> None:
    frontier = a_frontier(max_pages=limit)
    asked = crawl(frontier, graph, order)
    documents = [url for url in asked if url in graph]
    assert len(documents) <= limit
    wanted = [url for url in breadth_first(graph) if url in graph]
    assert len(documents) == min(limit, len(wanted)), "dead links take nobody's place"


def test_known_pages_are_asked_without_waiting_for_the_root() -> None:
    known = {"/": a_known(1, "/", [2], 0), "/a": a_known(2, "/a", [1])}
    frontier = a_frontier(known)
    assert [visit.url for visit in (frontier.next(), frontier.next()) if visit] == ["/", "/a"]


def test_pages_that_no_reachable_page_links_to_are_orphans() -> None:
    known = {
        "/": a_known(1, "/", [2], 0),
        "/a": a_known(2, "/a", [3]),
        "/b": a_known(3, "/b", [4]),
        "/c": a_known(4, "/c", [3]),
    }
    frontier = a_frontier(known)
    crawl(frontier, {"/": ["/a"], "/a": [], "/b": ["/c"], "/c": ["/b"]})
    settled = frontier.settle(complete=True, keep_orphans=False)
    assert [page.reference for page in settled.orphaned] == ["/b", "/c"], "a ring of pages keeps nobody alive"


def test_an_incomplete_listing_orphans_nothing() -> None:
    known = {"/": a_known(1, "/", [2], 0), "/a": a_known(2, "/a", [])}
    frontier = a_frontier(known)
    crawl(frontier, {"/": [], "/a": []})
    assert frontier.settle(complete=False, keep_orphans=False).orphaned == ()


def test_a_known_page_that_failed_counts_with_its_stored_links() -> None:
    known = {"/": a_known(1, "/", [2], 0), "/a": a_known(2, "/a", [3]), "/b": a_known(3, "/b", [])}
    frontier = a_frontier(known)
    while visit := frontier.next():
        if visit.url == "/a":
            frontier.failed(visit)
        else:
            frontier.unchanged(visit)
    assert frontier.settle(complete=True, keep_orphans=False).orphaned == ()


def test_a_page_that_failed_is_kept_even_when_nothing_links_to_it() -> None:
    known = {"/": a_known(1, "/", [], 0), "/a": a_known(2, "/a", [])}
    frontier = a_frontier(known)
    while visit := frontier.next():
        if visit.url == "/a":
            frontier.failed(visit)
        else:
            frontier.unchanged(visit)
    assert frontier.settle(complete=True, keep_orphans=False).orphaned == ()


def test_addresses_that_may_not_be_asked_are_counted_once() -> None:
    frontier = a_frontier(why_not=lambda url: "robots" if url == "/x" else None)
    asked = crawl(frontier, {"/": ["/x", "/a"], "/a": ["/x"]})
    assert asked == ["/", "/a"]
    assert frontier.ignored == {"robots": 1}
