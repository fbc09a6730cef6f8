"""What a passage says is cut out of a content, whichever of its sections is left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.core.search.hit import Filters
from rowen.core.section import Passage
from rowen.core.split import passages, split
from rowen.ports.embedder import Model
from rowen.ports.store.search import SearchRequest
from rowen.ports.store.store import Store
from tests.contract.helpers import MODEL, a_generation, a_source

pytestmark = pytest.mark.anyio

OTHER = Model(name="another", digest="d", dimensions=4, alpha=0.5)
LINKS = " ".join(f"[word {n}](https://far.example/{n}/{'deep/' * n})" for n in range(40))
PAGE = f"""# Barley

In *spring* <a id="sown"></a> it is [sown](https://a.example/s "t") <!-- not
shown --> thinly, 漢字 and all.

## Only a heading

### Links {{#links}}

{LINKS}

```
[code](stays)
```
"""
FAR = "# Far\n\n" + "".join(
    f"## Field {n}\n\nField {n} lies [here](/{n}) and has {n} rows. " * 30 for n in range(90)
)
"""So long that it is not opened whole for one of its sections."""


def said_by(*texts: str) -> dict[bytes, Passage]:
    return {digest: one for text in texts for digest, one in passages(split(text)).items()}


async def test_passages_are_read_as_they_were_cut(store: Store) -> None:
    await a_generation(
        store, await a_source(store), {"https://d.example/a": PAGE, "https://d.example/b": FAR}
    )
    wanted = said_by(PAGE, FAR)
    found = await store.unembedded(OTHER, limit=1000)
    assert {one.hash: one for one in found} == wanted
    gap = await store.embedding_gap(OTHER)
    assert gap.missing_chars == sum(len(one.heading_path) + 1 + len(one.text) for one in wanted.values())


async def test_a_hit_says_what_its_section_says(store: Store) -> None:
    await a_generation(
        store, await a_source(store), {"https://d.example/a": PAGE, "https://d.example/b": FAR}
    )
    request = SearchRequest(terms=["field", "barley"], vector=None, model=None, filters=Filters())
    places = (await store.search_snapshot(request)).places
    said = {(one.heading_path, one.text) for one in places}
    assert len(said) > 50
    assert said <= {(one.heading_path, one.text) for one in said_by(PAGE, FAR).values()}


async def test_a_few_sections_of_long_and_short_pages_are_read_after_their_places(store: Store) -> None:
    await a_generation(
        store, await a_source(store), {"https://d.example/a": PAGE, "https://d.example/b": FAR}
    )
    request = SearchRequest(terms=["field", "barley"], vector=None, model=None, filters=Filters())
    wanted = {one.passage_id: one.text for one in (await store.search_snapshot(request)).places}
    places = (await store.search_snapshot(replace(request, texts=False))).places
    far = [one for one in places if one.url.endswith("/b")]
    few = [far[0], far[-1], *(one for one in places if one.url.endswith("/a"))]
    for some in (few, places):
        about = await store.about([], some, proven=False)
        assert about.texts == {one.passage_id: wanted[one.passage_id] for one in some}


async def test_a_document_is_read_section_by_section(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {"https://d.example/a": PAGE})
    (known,) = (await store.known(source.id)).values()
    places = await store.document_sections(known.document_id)
    assert [place.text for place in places] == [section.text or section.heading for section in split(PAGE)]


async def test_a_passage_of_two_contents_outlives_one_of_them(store: Store) -> None:
    source = await a_source(store)
    shared = "# Barley\n\nBarley is sown in spring."
    first = {
        "https://d.example/a": f"{shared}\n\n# A\n\nalpha",
        "https://d.example/b": f"{shared}\n\n# B\n\nbeta",
    }
    await a_generation(store, source, first)
    last = await a_generation(store, source, {"https://d.example/a": "# A\n\nalpha"})
    await store.vacuum({source.id: last.generation}, everything=True)
    found = {one.text for one in await store.unembedded(OTHER, limit=10)}
    assert found == {"Barley is sown in spring.", "alpha", "beta"}
    assert not await store.unembedded(MODEL, limit=10)
