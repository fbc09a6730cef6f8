"""`/search`: hits, the chosen one in place, why it ranked, and what it says when there is nothing."""

from __future__ import annotations

import re

import pytest

from rowen.core.safety.access import Scope
from tests.doors.web.conftest import Person, hold
from tests.support.site import html
from tests.support.unhurried import unhurried as unhurried
from tests.support.world import a_page

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


async def test_a_key_is_answered_with_the_main_part_of_the_page(reader: Person) -> None:
    """What the script asks for; a link with the same address is followed by a browser, to a whole page."""
    typed = await reader.get("/search?q=barl&typing=1", headers={"Accept": "text/html"})
    assert 'id="results"' in typed.text and "<title>barl · Rowen</title>" in typed.text
    assert "<header" not in typed.text and "<footer" not in typed.text
    shown = await reader.get("/search?q=barl&typing=1", headers={"Accept": "text/html,*/*;q=0.8"})
    assert "<header" in shown.text and "<footer" in shown.text
    assert _results(typed.text) == _results(shown.text)


def _results(text: str) -> str:
    main = text.partition('id="results"')[2].partition("</main>")[0]
    return re.sub(r"in \d+ ms", "", main).strip()


async def test_a_section_of_megabytes_does_not_hold_up_a_key(
    reader: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of a search that a manual brings along is such a section, and a short word finds it."""
    looked_at: list[int] = []

    def counted(text: str) -> list[str]:
        looked_at.append(len(text))
        return text.split()

    monkeypatch.setattr("rowen.doors.web.markdown.words", counted)
    reader.world.site.set("/rye", a_page("/rye", "grain", "barley " + "sorghum millet " * 20_000))
    await reader.world.sync()
    page = await reader.get("/search?q=sorghum&typing=1")
    assert "2 of 2" not in page.words and "1 of 1 in it" in page.words
    assert max(looked_at) < 60_000


async def test_filters_are_links_with_counts_and_the_chosen_hit_is_in_the_address(reader: Person) -> None:
    page = await reader.get("/search?q=barley&source=docs&hit=2")
    assert 'aria-current="true">docs <span>3</span>' in page.text
    assert "Why it is number 2" in page.words
    assert (await reader.get("/search.json?q=barley&kind=files")).json["hits"] == []
    assert (await reader.get("/search.json?q=barley&language=de")).json["hits"] == []
    page = await reader.get("/search?q=barley&language=en")
    assert 'aria-current="true" hreflang="en"' in page.text


async def test_hits_with_the_same_headings_say_which_page_they_are_of(reader: Person) -> None:
    site = reader.world.site
    for path in ("/v1/silo", "/v2/silo"):
        site.set(path, a_page("Silo", "grain", f"sorghum of {path}"))
    site.set("/", html("Home", "All about grain.", links=["/rye", "/v1/silo", "/v2/silo"]))
    await reader.world.sync()
    hits = (await reader.get("/search.json?q=sorghum")).json["hits"]
    assert {hit["page"] for hit in hits if "sorghum" in hit["snippet"]} == {"v1/silo", "v2/silo"}
    assert "v2/silo" in (await reader.get("/search?q=sorghum")).words
    site.set("/", html("Home", "All about grain.", links=["/rye", "/v1/silo"]))
    await reader.world.sync()
    hits = (await reader.get("/search.json?q=sorghum")).json["hits"]
    assert [hit["page"] for hit in hits if "sorghum" in hit["snippet"]] == [None]


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


async def test_why_a_hit_ranked_says_its_share_by_words_and_by_meaning(reader: Person) -> None:
    page = await reader.get("/search?q=barley")
    why = {one["what"]: one for one in (await reader.get("/search.json?q=barley")).json["read"]["why"]}
    assert why["words"]["said"].endswith("1 of 1 in it")
    assert 0.0 <= why["words"]["share"] <= 1.0
    assert 0.0 <= why["meaning"]["share"] <= 1.0
    assert f"meaning {why['meaning']['said']}" in page.words


async def test_many_hits_have_pages_and_counts_say_that_they_are_not_of_all(person: Person) -> None:
    paths = [f"/p{number}" for number in range(45)]
    person.world.site.set("/", html("Home", "All about grain.", links=paths))
    for path in paths:
        person.world.site.set(path, html(f"Page {path}", f"barley and text {path}"))
    await person.world.sync()
    first = await person.get("/search?q=barley&kind=web")
    assert "30 or more documents, 1 to 20 shown," in first.words
    assert "docs 30+" in first.words and "page 1 of 2 or more" in first.words
    second = (await person.get("/search.json?q=barley&page=2")).json
    assert [hit["number"] for hit in second["hits"]] == list(range(21, 41))
    assert (second["chosen"], second["read"]["number"]) == (21, 21)
    last = (await person.get("/search.json?q=barley&page=3")).json
    assert (last["found"], last["more"], last["pages"]) == (46, False, 3)
    assert (await person.get("/search.json?q=barley&page=9")).json["page_number"] == 3
    seen = {hit["document_id"] for number in (1, 2, 3) for hit in await _hits(person, number)}
    assert len(seen) == 46
    chosen = await person.get("/search?q=barley&source=docs&page=3")
    assert "46 documents, 41 to 46 shown," in chosen.words and "docs 46 " in chosen.words


async def _hits(person: Person, number: int) -> list[dict[str, int]]:
    found: list[dict[str, int]] = (await person.get(f"/search.json?q=barley&page={number}")).json["hits"]
    return found


@pytest.mark.usefixtures("unhurried")
async def test_a_choice_of_freshness_asks_again_and_says_what_came_of_it(reader: Person) -> None:
    world = reader.world
    page = await reader.get("/search?q=barley")
    assert '<option value="">As last verified</option>' in page.text
    assert 'id="rechecked"' not in page.text
    world.clock.advance(60.0)
    world.site.set("/rye", a_page("/rye", "grain", "barley", "newest"))
    world.site.clear_log()
    page = await reader.get("/search?q=barley&fresh=99%25&kind=web")
    assert "3 hits asked for again: 2 confirmed, 1 changed, 0 gone." in page.words
    assert sorted(one.path for one in world.site.requests if one.path != "/robots.txt") == [
        "/",
        "/oats",
        "/rye",
    ]
    assert '<option value="99%" selected>' in page.text
    assert 'name="fresh" value="99%"' in page.text, "the next question asks in the same way"
    assert "rate of change not known yet" in page.words, "how likely each hit is current is said of each"
    world.clock.advance(60.0)
    said = (await reader.get("/search.json?q=newest&fresh=100%25")).json
    assert (said["answer"]["rechecked"]["confirmed"], said["hits"][0]["how"]) == (3, "not modified (304)")
    assert (await reader.get("/search?q=barley&fresh=often")).status == 400


@pytest.mark.usefixtures("unhurried")
async def test_hits_are_not_asked_for_while_somebody_types_turns_pages_or_follows_a_foreign_link(
    reader: Person,
) -> None:
    reader.world.site.clear_log()
    typed = await reader.get("/search?q=barley&fresh=99%25&typing=1")
    assert "No hit was asked for again: press Enter" in typed.words
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert "from another site" in (await reader.get("/search?q=barley&fresh=99%25", headers=foreign)).words
    then = await reader.get("/search?q=barley&fresh=99%25&as_of=0s")
    assert "an earlier time is not asked for again" in then.words and 'id="fresh"' not in then.text
    page = await reader.get("/search?q=barley&fresh=99%25&page=2")
    assert "No hit was asked for again" in page.words
    assert reader.world.site.requests == []


async def test_who_may_only_read_has_no_choice_of_freshness(reader: Person) -> None:
    await reader.sign_in(await reader.token(Scope.READ, "guest"))
    reader.world.site.clear_log()
    page = await reader.get("/search?q=barley&fresh=99%25")
    assert page.status == 200
    assert "that needs a token with scope sync" in page.words and 'id="fresh"' not in page.text
    assert reader.world.site.requests == []
