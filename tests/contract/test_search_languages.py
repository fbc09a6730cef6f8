"""Words of German and Arabic are found on both databases, now and as they were."""

from __future__ import annotations

import pytest

from rowen.core.search.hit import Filters
from rowen.core.search.query import terms
from rowen.ports.store.search import SearchRequest
from rowen.ports.store.store import Store
from tests.contract.helpers import a_generation, a_source

pytestmark = pytest.mark.anyio

FIRE = "https://docs.example/feuer"
BOOK = "https://docs.example/book"
DOG = "https://docs.example/hund"
TEXTS = {
    FIRE: "Die Feuerwehrleitstelle nimmt Notrufe an und ist immer besetzt.",
    BOOK: "\u0648\u0627\u0644\u0643\u062a\u0627\u0628 \u0627\u0644\u0645\u0643\u062a\u0628\u0627\u062a.",
    DOG: "Die Hundesteuermarke ist am Halsband zu tragen.",
}


async def found(store: Store, question: str, shown: dict[int, int] | None = None) -> list[str]:
    request = SearchRequest(terms=terms(question), vector=None, model=None, filters=Filters(), shown=shown)
    result = await store.search_snapshot(request)
    best = sorted(result.places, key=lambda place: -result.keyword[place.passage_id])
    return [place.reference for place in best]


async def test_compounds_and_articles_hide_no_word_now_or_at_an_earlier_time(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, TEXTS)
    asked = {
        "Leitstelle": [FIRE],
        "Wo ist die Marke f\u00fcr den Hund?": [DOG],
        "\u0645\u0643\u062a\u0628\u0629": [BOOK],
    }
    for question, names in asked.items():
        assert await found(store, question) == names
    elsewhere = "Die Polizeileitstelle ist nicht mehr hier, und der Notruf auch nicht."
    await a_generation(store, source, {**TEXTS, FIRE: elsewhere})
    assert await found(store, "Feuerwehr") == []
    assert await found(store, "Feuerwehr", {source.id: 1}) == [FIRE]
    assert await found(store, "Polizei") == [FIRE]
