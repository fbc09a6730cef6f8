from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from rowen.core.freshness.proof import Proof
from rowen.core.search.copies import Dataset
from rowen.core.search.hit import Answer, Filters, Place, SearchMode
from rowen.core.search.query import terms as terms_of
from rowen.errors import UserError
from rowen.ports.store.search import About, SearchRequest, SearchResult
from rowen.ports.store.store import Store
from rowen.reading.search import search
from tests.support.fakes import FakeEmbedder

pytestmark = pytest.mark.anyio

PAGES = {
    "install": ("Install the package with pip and check the version.", "Installing"),
    "queue": ("A queue distributes work between workers; put blocks until there is room.", "Queues"),
    "sockets": ("Sockets wait for a connection before they read.", None),
    "twin": ("A queue distributes work between workers; put blocks until there is room.", "Queues"),
}


class Shelf:
    """Ranks by counting shared words; knows nothing else of a store."""

    async def symbol_words(self, *, shortest: int, longest: int) -> list[str]:
        return []

    async def proofs(self, document_ids: Sequence[int]) -> dict[int, Proof]:
        return {}

    async def about(
        self, document_ids: Sequence[int], places: Sequence[Place] = (), *, proven: bool
    ) -> About:
        passage_ids = {place.passage_id for place in places}
        texts = {place.passage_id: place.text for place in self.places if place.passage_id in passage_ids}
        return About({}, {number: text for number, text in texts.items() if number not in self.removed})

    async def datasets_alike(
        self, document_ids: Sequence[int], *, shown: Mapping[int, int] | None = None
    ) -> list[Dataset]:
        return []

    def __init__(self, embedder: FakeEmbedder, *, vectors: bool = True) -> None:
        self.embedder = embedder
        self.vectors = vectors
        self.requests: list[SearchRequest] = []
        self.places: list[Place] = []
        self.removed: set[int] = set()
        """Passages that a vacuum removes after a search has found them."""
        texts = list(dict.fromkeys(text for text, _ in PAGES.values()))
        for number, (name, (text, heading)) in enumerate(PAGES.items(), 1):
            self.places.append(
                Place(
                    passage_id=texts.index(text) + 1,
                    document_id=number,
                    source="docs",
                    version="2",
                    kind="web",
                    reference=f"https://d.test/{name}",
                    url=f"https://d.test/{name}",
                    title=name.title(),
                    generation=4,
                    fetched_at=datetime(2024, 1, 1, tzinfo=UTC),
                    position=0,
                    heading_path=heading or "",
                    anchor=heading.lower() if heading else None,
                    text=text,
                )
            )

    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        self.requests.append(request)
        keyword: dict[int, float] = {}
        dense: dict[int, float] = {}
        for place in self.places:
            words = set(terms_of(place.text))
            if shared := sum(term in words for term in request.terms):
                keyword[place.passage_id] = float(shared)
            if request.vector is not None and self.vectors:
                (vector,) = await self.embedder.embed([place.text])
                dense[place.passage_id] = sum(a * b for a, b in zip(vector, request.vector, strict=True))
        ranked = keyword.keys() | dense.keys()
        places = [place for place in self.places if place.passage_id in ranked]
        if not request.texts:
            places = [place._replace(text="") for place in places]
        return SearchResult(keyword=keyword, dense=dense, places=places)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def shelf(embedder: FakeEmbedder) -> Shelf:
    return Shelf(embedder)


async def ask(shelf: Shelf, query: str, embedder: FakeEmbedder | None, **options: object) -> Answer:
    return await search(cast(Store, shelf), embedder, query, **options)  # type: ignore[arg-type]


async def test_the_best_document_comes_first_with_snippet_and_anchor(
    shelf: Shelf, embedder: FakeEmbedder
) -> None:
    answer = await ask(shelf, "How do I install the package?", embedder)
    best = answer.hits[0]
    assert (answer.mode, answer.degraded, answer.query) == (
        SearchMode.HYBRID,
        None,
        "How do I install the package?",
    )
    assert (best.source, best.version, best.title, best.generation) == ("docs", "2", "Install", 4)
    assert best.url == "https://d.test/install#installing"
    assert best.heading_path == "Installing"
    assert best.snippet == "Install the package with pip and check the version."
    assert best.matches == ((0, 7), (12, 19))
    assert 0 < best.score <= 1
    assert answer.fits


async def test_a_text_that_was_removed_after_the_ranking_makes_it_search_again(
    shelf: Shelf, embedder: FakeEmbedder
) -> None:
    answer = await ask(shelf, "install the package", embedder)
    assert [request.texts for request in shelf.requests] == [False], "texts are read for what is shown"
    shelf.requests.clear()
    shelf.removed = {place.passage_id for place in shelf.places}
    again = await ask(shelf, "install the package", embedder)
    assert [request.texts for request in shelf.requests] == [False, True]
    assert again == answer


async def test_a_name_that_something_is_called_is_looked_for_in_no_text(
    shelf: Shelf, embedder: FakeEmbedder
) -> None:
    shelf.places = [shelf.places[0]._replace(symbol="asyncio.Queue"), *shelf.places[1:]]
    answer = await ask(shelf, "queue", embedder)
    assert answer.hits[0].defines == "asyncio.Queue"
    assert [request.texts for request in shelf.requests] == [False]


async def test_a_section_without_anchor_is_linked_by_its_page(shelf: Shelf, embedder: FakeEmbedder) -> None:
    answer = await ask(shelf, "sockets", embedder, mode=SearchMode.KEYWORD)
    assert [hit.url for hit in answer.hits] == ["https://d.test/sockets"]


async def test_the_same_text_at_two_addresses_is_two_hits_in_order(
    shelf: Shelf, embedder: FakeEmbedder
) -> None:
    answer = await ask(shelf, "queue workers", embedder, mode=SearchMode.KEYWORD)
    assert [hit.url for hit in answer.hits] == ["https://d.test/queue#queues", "https://d.test/twin#queues"]


async def test_other_matching_sections_come_with_their_document(shelf: Shelf, embedder: FakeEmbedder) -> None:
    shelf.places = [
        place._replace(document_id=1, url="https://d.test/all", position=number)
        for number, place in enumerate(shelf.places)
    ]
    answer = await ask(shelf, "queue connection", embedder, mode=SearchMode.KEYWORD)
    (hit,) = answer.hits
    assert hit.heading_path == "Queues"
    (other,) = hit.sections
    ((start, end),) = other.matches
    assert (other.url, other.snippet[start:end]) == ("https://d.test/all", "connection")
    apart = await ask(shelf, "queue connection", embedder, mode=SearchMode.KEYWORD, per_document=False)
    assert len(apart.hits) == 3
    assert all(hit.sections == () for hit in apart.hits)


async def test_each_mode_asks_only_for_its_lists(shelf: Shelf, embedder: FakeEmbedder) -> None:
    for mode in SearchMode:
        assert (await ask(shelf, "queue", embedder, mode=mode)).mode is mode
    hybrid, keyword, vector = shelf.requests
    assert (list(hybrid.terms), hybrid.vector is not None, hybrid.model) == (["queue"], True, embedder.model)
    assert (list(keyword.terms), keyword.vector, keyword.model) == (["queue"], None, None)
    assert (list(vector.terms), vector.vector is not None, vector.model) == ([], True, embedder.model)
    assert len(embedder.queries) == 2, "keyword search embeds nothing"


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.VECTOR])
async def test_with_the_embedder_down_keywords_answer_and_say_so(
    shelf: Shelf, embedder: FakeEmbedder, mode: SearchMode
) -> None:
    embedder.down = True
    answer = await ask(shelf, "queue", embedder, mode=mode)
    assert answer.mode is SearchMode.KEYWORD
    assert answer.degraded == "answered from keywords: model `fake` is away (embedder unavailable)"
    assert [hit.title for hit in answer.hits] == ["Queue", "Twin"]


async def test_without_an_embedder_keywords_answer_and_say_so(shelf: Shelf) -> None:
    answer = await ask(shelf, "queue", None)
    assert (answer.mode, len(answer.hits)) == (SearchMode.KEYWORD, 2)
    assert answer.degraded == "answered from keywords: no embedder is set up"
    assert (await ask(shelf, "queue", None, mode=SearchMode.KEYWORD)).degraded is None


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.VECTOR])
async def test_text_without_vectors_is_found_by_its_words(embedder: FakeEmbedder, mode: SearchMode) -> None:
    answer = await ask(Shelf(embedder, vectors=False), "queue", embedder, mode=mode)
    assert answer.mode is SearchMode.KEYWORD
    assert answer.degraded is not None
    assert "vector of model `fake`" in answer.degraded
    assert len(answer.hits) == 2


async def test_an_empty_store_is_not_a_degraded_one(embedder: FakeEmbedder) -> None:
    shelf = Shelf(embedder)
    shelf.places = []
    for mode in SearchMode:
        answer = await ask(shelf, "queue", embedder, mode=mode)
        assert (answer.mode, answer.degraded, answer.hits) == (mode, None, ())


async def test_a_query_without_words_relies_on_vectors(shelf: Shelf, embedder: FakeEmbedder) -> None:
    answer = await ask(shelf, "?!", embedder)
    assert answer.degraded is None
    assert list(shelf.requests[0].terms) == []
    assert len(answer.hits) == len(PAGES)


async def test_a_query_without_words_and_without_vectors_finds_nothing(
    shelf: Shelf, embedder: FakeEmbedder
) -> None:
    embedder.down = True
    answer = await ask(shelf, "?!", embedder)
    assert (answer.hits, answer.mode) == ((), SearchMode.KEYWORD)
    with pytest.raises(UserError, match="no word"):
        await ask(shelf, "?!", embedder, mode=SearchMode.KEYWORD)


@pytest.mark.parametrize("query", ["", "  \n\t"])
async def test_an_empty_query_is_refused(shelf: Shelf, embedder: FakeEmbedder, query: str) -> None:
    with pytest.raises(UserError, match="empty"):
        await ask(shelf, query, embedder)
    assert shelf.requests == []


@pytest.mark.parametrize("query", ["-queue", " -queue -broker "])
@pytest.mark.parametrize("mode", SearchMode)
async def test_a_query_that_only_leaves_out_words_is_refused(
    shelf: Shelf, embedder: FakeEmbedder, query: str, mode: SearchMode
) -> None:
    with pytest.raises(UserError, match="none to look for") as refused:
        await ask(shelf, query, embedder, mode=mode)
    assert "in quotes" in (refused.value.hint or "")
    assert shelf.requests == []


@pytest.mark.parametrize("limit", [0, -1, 101])
async def test_a_limit_out_of_bounds_is_refused(shelf: Shelf, embedder: FakeEmbedder, limit: int) -> None:
    with pytest.raises(UserError, match=f"expected 1 to 100, got {limit}"):
        await ask(shelf, "queue", embedder, limit=limit)


async def test_limit_and_filters_are_passed_on(shelf: Shelf, embedder: FakeEmbedder) -> None:
    filters = Filters(source_ids=frozenset({7}))
    answer = await ask(shelf, "queue", embedder, limit=1, filters=filters)
    assert len(answer.hits) == 1
    assert shelf.requests[0].filters is filters
