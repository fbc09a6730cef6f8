"""Reading with little room: excerpts within a budget, documents by any of their names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.feed import Document
from rowen.errors import NotFound
from rowen.managing.find import find
from rowen.managing.sources import add
from rowen.reading import addresses
from rowen.reading import read as reading
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


def a_document(text: str) -> Document:
    return Document(
        id=1,
        source_id=1,
        source="docs",
        kind="web",
        reference="https://docs.example/a",
        url="https://docs.example/a",
        title="A",
        metadata={},
        content_type="text/html",
        content_hash=b"",
        generation=1,
        born=1,
        fetched_at=datetime(2026, 5, 1, tzinfo=UTC),
        text=text,
    )


BOOK = a_document(
    "# Book\n\nIntro.\n\n## One {#first}\n\nText of one.\n\n### Deep\n\nDeeper.\n\n"
    "## Two\n\nText of two.\n\n## Three\n\nText of three.\n"
)
"""Five sections: Book, One, Deep, Two, Three."""


def test_without_a_section_a_document_is_read_from_its_beginning() -> None:
    part = reading.excerpt(BOOK, chars=40)
    assert part.text == "# Book\n\nIntro.\n\n"
    assert (part.first, part.last, part.sections, part.cut) == (1, 1, 5, False)
    assert part.before == ()
    assert [(one.number, one.path) for one in part.after] == [
        (2, "Book › One"),
        (3, "Book › One › Deep"),
        (4, "Book › Two"),
        (5, "Book › Three"),
    ]


def test_a_section_comes_with_what_stands_below_it_and_then_with_its_neighbours() -> None:
    alone = reading.excerpt(BOOK, section="One", chars=60)
    assert alone.text == "## One {#first}\n\nText of one.\n\n### Deep\n\nDeeper.\n\n"
    wider = reading.excerpt(BOOK, section="One", chars=100)
    assert (wider.first, wider.last) == (1, 4)
    assert [one.path for one in wider.after] == ["Book › Three"]


@pytest.mark.parametrize("name", ["2", "first", "#first", "one", "Book › One"])
def test_a_section_is_found_by_number_anchor_heading_or_path(name: str) -> None:
    assert reading.excerpt(BOOK, section=name, chars=20).first == 2


def test_an_address_inside_a_section_leads_to_that_section() -> None:
    marked = replace(BOOK, text=BOOK.text.replace("## Two", 'See <a id="shelf"></a>this.\n\n## Two', 1))
    found = reading.excerpt(marked, section="#shelf", chars=20)
    assert found.first == reading.excerpt(BOOK, section="Two", chars=20).first - 1
    assert reading.section_at(marked, "shelf") is not None


def test_a_section_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(NotFound, match="section `Thre` of") as told:
        reading.excerpt(BOOK, section="Thre", chars=100)
    assert told.value.hint == "sections have the numbers 1 to 5; headings are `Three`"


def test_a_section_longer_than_the_budget_is_cut_at_a_word() -> None:
    part = reading.excerpt(a_document("word " * 300), chars=52)
    assert part.cut
    assert part.text == "word word word word word word word word word word"
    assert reading.excerpt(a_document("x" * 300), chars=50).text == "x" * 50


def test_a_document_without_text_has_no_sections() -> None:
    part = reading.excerpt(a_document("\n"), chars=100)
    assert (part.text, part.first, part.sections) == ("", 0, 0)


@given(st.text(alphabet="# ab\n`é漢", max_size=4000), st.integers(1, 3000), st.integers(1, 5))
def test_an_excerpt_keeps_to_its_budget_and_says_the_rest(text: str, chars: int, number: int) -> None:
    document = a_document(text)
    sections = reading.excerpt(document, chars=10**6).sections
    part = reading.excerpt(document, section=str(min(number, sections)) if sections else "", chars=chars)
    assert len(part.text) <= chars
    assert part.text in text
    if part.sections:
        assert 1 <= part.first <= part.last <= part.sections
        assert bool(part.before) == (part.first > 1)
        assert bool(part.after) == (part.last < part.sections)


async def test_a_page_is_found_by_its_address_however_it_is_spelt(world: World) -> None:
    for spelling in ("/a.html", "/a.html#more", "/a.html?utm_source=x", "/%61.html"):
        assert (await reading.by_url(world.ports.store, world.site.url + spelling)).title == "A"
    assert (await reading.by_url(world.ports.store, world.site.url)).title == "Home"


async def test_a_page_is_found_by_its_address_without_a_scheme(world: World) -> None:
    typed = world.site.url.removeprefix("http://") + "/a.html#more"
    assert (await reading.by_url(world.ports.store, typed)).title == "A"


async def test_a_page_is_found_by_another_name_it_answers_to(world: World) -> None:
    canonical = f'<link rel="canonical" href="{world.site.url}/long.html">'
    world.site.set("/", html("Home", "Hello", links=["/a.html", "/long.html?print=1"]))
    world.site.set("/long.html?print=1", html("Long", canonical, "Text"))
    world.site.set("/long.html", html("Long", canonical, "Text"))
    await world.sync()
    found = await reading.by_url(world.ports.store, world.site.url + "/long.html?print=1")
    assert found.title == "Long"


async def test_a_file_is_found_by_its_address(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "über uns.md").write_text("# About\n\nUs.\n")
    await add(world.ports, str(folder), name="notes")
    await world.sync("notes")
    document = (await world.store.documents((await find(world.ports.store, "notes")).id))[0]
    assert document.reference != document.url
    assert (await reading.by_url(world.ports.store, document.url)).id == document.id


async def test_an_item_is_found_whose_reference_has_nothing_to_do_with_its_address(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "PAGE", 2)
    portal = await a_source(world.store, "portal")
    url = "https://portal.example/dataset/rainfall"
    items = [replace(a_draft(f"id-{n}", f"Text {n}"), url=f"{url}-{n}") for n in range(5)]
    lease, run = await a_run(world.store, portal)
    await ingest(world.store, lease, run, await world.store.stage(lease, run, items, now=NOW))
    await world.store.finish_run(lease, run, an_end(run), now=LATER)
    for number in range(5):
        assert (await reading.by_url(world.ports.store, f"{url}-{number}")).reference == f"id-{number}"
    with pytest.raises(NotFound):
        await reading.by_url(world.ports.store, f"{url}-9")


async def test_what_is_gone_is_told_as_gone(world: World) -> None:
    url = world.site.url + "/b.html"
    number = (await reading.by_url(world.ports.store, url)).id
    world.site.set("/", html("Home", "Hello", links=["/a.html"]))
    world.site.remove("/b.html")
    await world.sync()
    with pytest.raises(NotFound, match=r"b\.html`: no document with this address is visible"):
        await reading.by_url(world.ports.store, url)
    with pytest.raises(NotFound, match=f"document {number}: not visible"):
        await reading.by_id(world.ports.store, number)


async def test_of_two_copies_the_one_fetched_last_is_read(world: World) -> None:
    world.clock.advance(timedelta(days=1).total_seconds())
    await world.add("other", "/b.html")
    await world.sync("other")
    assert (await reading.by_url(world.ports.store, world.site.url + "/b.html")).source == "other"


async def test_a_record_is_what_the_source_sent_and_its_absence_is_said(tmp_path: Path) -> None:
    async with a_world(tmp_path, Site({})) as world:
        source = await a_source(world.store)
        lease, run = await a_run(world.store, source)
        drafts = [replace(a_draft("a", "A"), record=b'{"id": "a", "odd": [1]}'), a_draft("b", "B")]
        await ingest(world.store, lease, run, await world.store.stage(lease, run, drafts, now=NOW))
        await world.store.finish_run(lease, run, an_end(run), now=LATER)
        with_record, without = await world.store.documents(source.id)
        assert await reading.record(world.store, with_record) == {"id": "a", "odd": [1]}
        with pytest.raises(NotFound, match="no record of its source"):
            await reading.record(world.store, without)


def test_a_text_that_is_cut_keeps_no_half_of_a_link() -> None:
    before, link = (
        "Unlike the others, this one is said in ",
        "[the whole story](https://d.test/a/long/address)",
    )
    text = f"{before}{link} and more"
    for chars in range(len(before) + 1, len(before + link)):
        assert reading.beginning(text, chars) == before.rstrip()
    assert reading.beginning(text, len(text) - 2) == f"{before}{link} and"
    assert reading.beginning(text, len(text)) == text
