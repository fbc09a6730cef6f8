"""Which pages a crawl asks for that is told what has changed."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from rowen.core.document import Known, Validators
from rowen.kinds.crawl.frontier.named import NamedFrontier
from rowen.kinds.crawl.visits import Visit

ROOT = "https://docs.example/"


def known(*names: str, links: dict[str, list[str]] | None = None) -> dict[str, Known]:
    return {
        ROOT + name: Known(
            document_id=number,
            reference_id=number,
            reference=ROOT + name,
            content_hash=b"",
            body_hash=None,
            payload_hash=b"",
            validators=Validators(),
            depth=2,
            links=array("q", [list(names).index(link) + 1 for link in (links or {}).get(name, [])]),
        )
        for number, name in enumerate(names, 1)
    }


def pages(seen: dict[str, Known], *named: str, **options: Any) -> NamedFrontier:
    given: dict[str, Any] = {
        "leftovers": {},
        "aliases": {},
        "why_not": lambda url: None,
        "max_depth": None,
        "max_pages": 100,
        **options,
    }
    urls = {page.reference_id: url for url, page in seen.items()}
    return NamedFrontier(root=ROOT, named=[ROOT + name for name in named], known=seen, urls=urls, **given)


def drain(frontier: NamedFrontier, answer: Callable[[Visit], None]) -> list[str]:
    asked = []
    while (visit := frontier.next()) is not None:
        asked.append(visit.url.removeprefix(ROOT))
        answer(visit)
    return asked


def test_known_pages_keep_their_depth_and_new_ones_hang_below_the_root() -> None:
    frontier = pages(known("a"), "a", "new", "")
    visits = [frontier.next() for _ in range(3)]
    assert [visit.depth for visit in visits if visit] == [2, 1, 0]
    assert frontier.is_under_way(ROOT + "a")
    assert frontier.queued == 0


def test_only_links_that_are_new_on_a_named_page_are_followed() -> None:
    seen = known("a", "b", "gone", links={"a": ["gone"]})
    del seen[ROOT + "gone"]
    urls = {1: ROOT + "a", 2: ROOT + "b", 3: ROOT + "gone"}
    frontier = NamedFrontier(
        root=ROOT,
        named=[ROOT + "a"],
        known=seen,
        leftovers={},
        urls=urls,
        aliases={ROOT + "b.html": ROOT + "b"},
        why_not=lambda url: "robots" if "closed" in url else None,
        max_depth=3,
        max_pages=100,
    )
    links = [ROOT + name for name in ("b", "b.html", "gone", "new", "closed", "new")]
    asked = drain(frontier, lambda visit: frontier.document(visit, links))
    assert asked == ["a", "new"]
    assert frontier.ignored == {"robots": 1}


def test_a_new_page_may_be_too_deep_or_one_too_many() -> None:
    frontier = pages(known("a"), "a", max_depth=2, max_pages=1)
    assert drain(frontier, lambda visit: frontier.document(visit, [ROOT + "new"])) == ["a"]
    assert frontier.ignored == {"too_deep": 1}
    frontier = pages(known("a"), "a", "x", "y", max_pages=2)
    assert drain(frontier, lambda visit: frontier.document(visit, [])) == ["a", "x"]
    assert frontier.ignored == {"over_max_pages": 1}


def test_an_address_that_is_no_page_takes_no_place() -> None:
    frontier = pages(known("a"), "x", "y", max_pages=2)
    assert drain(frontier, frontier.gone) == ["x", "y"]
    assert not frontier.ignored


def test_redirects_are_judged_by_where_they_end() -> None:
    frontier = pages(known("a", "b", "c", "d", "e", "f"), "a", "b", "c", "d", "e")
    to = {"a": "new", "b": "f", "c": "nowhere", "d": "e", "e": "d"}

    def answer(visit: Visit) -> None:
        name = visit.url.removeprefix(ROOT)
        if name in to:
            frontier.moved(visit, ROOT + to[name])
        elif name == "nowhere":
            frontier.gone(visit)
        else:
            frontier.document(visit, [])

    asked = drain(frontier, answer)
    assert asked == ["a", "b", "c", "d", "e", "new", "nowhere"]
    settled = frontier.settle(complete=False, keep_orphans=False)
    moved = {move.page.reference.removeprefix(ROOT): move.lost for move in settled.moved}
    assert moved == {"a": False, "b": True, "c": True}
    assert [move.page.reference.removeprefix(ROOT) for move in settled.astray] == ["d", "e"]
    assert (settled.orphaned, settled.displaced, settled.forbidden) == ((), (), ())


def test_other_names_of_pages() -> None:
    frontier = pages(known("a", "b"), "a.html")
    visit = frontier.next()
    assert visit is not None
    assert frontier.claim(ROOT + "a", 1) is None
    assert frontier.is_document(ROOT + "a"), "readers see it, and nobody said it changed"
    frontier.duplicate(visit, ROOT + "a")
    frontier = pages(known(""), "")
    root = frontier.next()
    assert root is not None
    assert frontier.is_also(root, ROOT + "index.html")
    assert not frontier.is_also(root, ROOT)
    claimed = frontier.claim(ROOT + "canonical", 1)
    assert claimed is not None
    frontier.unchanged(claimed)
    assert frontier.is_document(ROOT + "canonical")
    frontier.failed(root)
    assert not frontier.is_document(ROOT)
