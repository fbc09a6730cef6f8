"""`/search`: hits, the chosen one in place, why it ranked, and what it says when there is nothing."""

from __future__ import annotations

import pytest

from tests.doors.web.conftest import Person, hold

pytestmark = pytest.mark.anyio


async def test_a_question_is_answered_with_hits_and_the_first_one_in_place(reader: Person) -> None:
    page = await reader.get("/search?q=rye")
    assert page.status == 200
    assert "<mark>rye</mark>" in page.text and "Why it is first" in page.words
    assert 'class="here"' in page.text


async def test_matched_words_are_marked_on_the_page_and_told_by_their_place_beside_it(reader: Person) -> None:
    page = await reader.get("/search?q=rye")
    best = (await reader.get("/search.json?q=rye")).json["hits"][0]
    assert {best["snippet"][start:end].lower() for start, end in best["matches"]} == {"rye"}
    first = page.text.partition('<li class="hit')[2].partition("</li>")[0]
    assert first.lower().count("<mark>rye</mark>") == len(best["matches"])


async def test_a_word_that_is_being_typed_counts_by_its_beginning(reader: Person) -> None:
    typed = await reader.get("/search.json?q=barl&typing=1")
    assert len(typed.json["hits"]) == 3
    assert all("barley" in hit["snippet"] for hit in typed.json["hits"])


async def test_filters_are_links_with_counts_and_the_chosen_hit_is_in_the_address(reader: Person) -> None:
    page = await reader.get("/search?q=barley&source=docs&hit=2")
    assert 'aria-current="true">docs <span>3</span>' in page.text
    assert "Why it is number 2" in page.words
    assert (await reader.get("/search.json?q=barley&kind=files")).json["hits"] == []
    assert (await reader.get("/search.json?q=barley&language=de")).json["hits"] == []
    page = await reader.get("/search?q=barley&language=en")
    assert 'aria-current="true" hreflang="en"' in page.text


async def test_hits_of_a_held_source_say_so(reader: Person) -> None:
    assert "source is held" not in (await reader.get("/search?q=barley")).words
    await hold(reader)
    page = await reader.get("/search?q=many&source=many")
    assert "source is held" in page.words and "verified" in page.words


async def test_nothing_found_is_said_with_the_question(reader: Person) -> None:
    page = await reader.get("/search?q=%3Cb%3Ezzzz&kind=files")
    assert "Nothing found for" in page.words and "<b>zzzz" not in page.text


async def test_a_question_without_a_word_is_refused_in_words(reader: Person) -> None:
    page = await reader.get("/search?q=%22%22&source=nobody")
    assert page.status in (400, 404) and "What to do" in page.words


async def test_an_earlier_time_in_the_address_is_a_banner_and_stays_with_the_next_question(
    reader: Person,
) -> None:
    page = await reader.get("/search?q=barley&as_of=0s")
    assert page.status == 200
    assert "This is what readers saw as of" in page.words
    assert 'name="as_of" value="0s"' in page.text
    assert 'class="here"' in page.text
    assert "as of" not in (await reader.get("/search?q=barley")).words
    assert (await reader.get("/search?q=barley&as_of=soon")).status == 400
    assert (await reader.get("/search.json?q=barley&as_of=0s")).json["answer"]["as_of"]["says"]
