"""Every page: complete HTML without scripts, the same data as JSON, and nothing of the source as markup."""

from __future__ import annotations

import re

import pytest

from rowen.core.freshness.claims import Record, Signal
from rowen.core.run import RunStatus
from rowen.doors.web.pages import machinery
from rowen.doors.web.render import Assets
from rowen.engine.leases import run_lease
from rowen.managing import sources
from rowen.offers.companies import project
from tests.doors.web.conftest import Person, browsing, hold
from tests.support.job_board import a_board, an_offer, show
from tests.support.site import html
from tests.support.world import World, a_page

pytestmark = pytest.mark.anyio

ADDRESSES = (
    "/",
    "/search",
    "/search?q=barley",
    "/sources/docs",
    "/sources/docs/runs/1",
    "/sources/docs/diff/0..1",
    "/sources/docs/compare/docs",
    "/add",
    "/documents/1",
    "/documents/1?raw=1",
    "/inspect",
    "/inspect?url=https://docs.invalid/",
    "/companies",
    "/handoffs",
    "/sinks",
    "/workers",
    "/settings",
)


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_page_is_whole_and_has_json_beside_it(reader: Person, address: str) -> None:
    page = await reader.get(address)
    assert page.status == 200, page.words
    path, _, query = address.partition("?")
    beside = "/sources.json" if path == "/" else f"{path}.json"
    data = await reader.get(f"{beside}?{query}")
    assert data.status == 200 and isinstance(data.json, dict)


async def test_a_source_called_new_has_a_page_like_any_other(world: World) -> None:
    await world.add("new")
    async with browsing(world) as person:
        assert "/sources/new" in (await person.get("/")).text
        page = await person.get("/sources/new")
        assert page.status == 200 and "Add a source" not in page.words
        assert (await person.get("/sources/new.json")).json["source"]["label"] == "new"
        assert "Add a source" in (await person.get("/add")).words


async def test_the_address_of_a_new_source_leads_to_the_form(reader: Person) -> None:
    page = await reader.get("/sources/new?location=docs.invalid")
    assert page.status == 200 and "Add a source" in page.words
    assert 'value="docs.invalid"' in page.text


async def test_a_document_tells_its_validators_and_where_its_links_lead(reader: Person) -> None:
    found = (await reader.get("/documents/1.json")).json
    assert list(found["validators"]) == ["ETag"]
    assert [one["title"] for one in found["links"]] == ["Page rye", "Page oats"]
    page = await reader.get("/documents/1")
    assert found["validators"]["ETag"].strip('"') in page.text
    assert all(f'href="/documents/{one["document_id"]}"' in page.text for one in found["links"])


async def test_each_generation_is_shown_with_what_it_changed(reader: Person) -> None:
    first = (await reader.get("/sources/docs.json")).json["generations"][0]
    assert first["counters"]["created"] > 0
    assert f"+{first['counters']['created']}" in (await reader.get("/sources/docs")).text


async def test_a_page_is_inspected_and_nothing_of_it_is_stored(world: World) -> None:
    async with browsing(world, allow_private=True) as person:
        page = await person.get(f"/inspect?url={world.site.url}/rye")
        assert "Would be indexed" in page.words and "About rye" in page.words
        assert await world.store.sources() == []
        world.site.clear_log()
        foreign = {"Sec-Fetch-Site": "cross-site"}
        assert (
            "Press Inspect" in (await person.get(f"/inspect?url={world.site.url}/rye", headers=foreign)).words
        )
        assert world.site.requests == []


async def test_what_is_not_there_is_said_with_what_to_do(reader: Person) -> None:
    for address, said in (
        ("/nowhere", "there is no such page"),
        ("/sources/dosc", "Did you mean docs ?"),
        ("/sources/docs/runs/99", "no such run"),
        ("/sources/docs/diff/1..9", "not kept"),
        ("/sources/docs/diff/x", "expected two generations"),
        ("/documents/99", "not visible; it was removed, or replaced by a newer version"),
    ):
        page = await reader.get(address)
        assert page.status == 404 and said in page.words, page.words
        assert page.headers["X-Request-ID"] in page.text


async def test_a_bug_is_told_with_its_number_and_without_its_words(
    reader: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*given: object, **named: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(machinery, "sink_states", broken)
    page = await reader.get("/sinks")
    assert page.status == 500 and "A bug in Rowen" in page.words and "secret" not in page.text


async def test_a_diff_shows_the_words_that_differ(reader: Person) -> None:
    reader.world.site.set("/rye", a_page("/rye", "grain", "oats"))
    await reader.world.sync()
    page = await reader.get("/sources/docs/diff/1..2")
    assert "<del>barley</del>" in page.text and "<ins>oats</ins>" in page.text
    assert "+1 −1 words" in page.words


async def test_the_budget_of_bytes_is_kept(reader: Person) -> None:
    assets = Assets().files
    assert len(assets["rowen.css"]) <= 24_000
    scripts = [body for name, body in assets.items() if name.endswith(".js")]
    assert sum(map(len, scripts)) <= 15_000
    every = sum(map(len, assets.values()))
    for address in ADDRESSES:
        size = len((await reader.get(address)).text.encode())
        assert size <= 40_000 and size + every <= 100_000, address


async def test_nothing_is_loaded_from_elsewhere_and_no_style_or_script_is_inline(reader: Person) -> None:
    for address in ADDRESSES:
        text = (await reader.get(address)).text
        assert " style=" not in text and "<style" not in text
        assert all('src="/assets/' in tag for tag in re.findall(r"<script[^>]*>", text))
        assert not re.findall(r'(?:src|<link[^>]*href)="(?!/assets/)', text)
        assert not re.findall(r'\son[a-z]+="', text)


async def test_companies_have_a_place_in_the_bar_where_there_is_a_job_source(reader: Person) -> None:
    assert 'href="/companies"' not in (await reader.get("/")).text
    store = reader.world.store
    board = await a_board(store)
    await show(store, board, [an_offer(1, "Acme & Sons", website="acme.com"), an_offer(2, "Bolt")])
    await project(reader.world.ports)
    page = await reader.get("/companies?q=acme")
    assert 'href="/companies"' in page.text and "Acme & Sons" in page.words and "Bolt" not in page.words
    one = await reader.get("/companies/1")
    assert "1 open job listing of 1" in one.words
    assert (await reader.get("/companies/1.json")).json["company"]["name"] == "Acme & Sons"


async def test_the_page_of_a_source_shows_which_of_its_signals_hold(reader: Person) -> None:
    source, now = await reader.world.source(), reader.world.clock.now()
    assert "Signals" not in (await reader.get("/sources/docs")).words
    held, lied = Record(claims=900, checked=60, held=60, runs=2), Record(lies=1, lied_at=now, lied_about="/a")
    async with run_lease(reader.world.ports, source) as lease:
        await reader.world.store.save_claims(lease, source.id, {Signal.LASTMOD: held, Signal.ETAG: lied})
    words = (await reader.get("/sources/docs")).words
    assert "lastmod of the sitemap 900 60 0 trusted 60 checks in 2 runs held: at most 4.3 % lies" in words
    assert "ETag 0 0 1 distrusted lied on" in words
    shown = (await reader.get("/sources/docs.json")).json
    assert [one["standing"] for one in shown["signals"]] == ["trusted", "distrusted"]


async def test_two_versions_are_compared_and_the_page_of_each_leads_there(world: World) -> None:
    for version in ("1", "2"):
        world.site.set(f"/{version}/", html("Manual", f"Version {version}.", links=[f"/{version}/a"]))
        world.site.set(f"/{version}/a", a_page("/a", "the same text"))
        await sources.add(world.ports, f"{world.site.url}/{version}/", name="manual", version=version)
        await world.sync(f"manual@{version}")
    async with browsing(world) as person:
        for label, other in (("manual@1", "manual@2"), ("manual@2", "manual@1")):
            page = await person.get(f"/sources/{label}")
            assert f"Compare with {other}" in page.words
            assert 'href="/sources/manual%401/compare/manual%402"' in page.text
        page = await person.get("/sources/manual@1/compare/manual@2")
        assert "manual@1 → manual@2" in page.words
        assert "1 page changed, 1 the same" in page.words
        data = (await person.get("/sources/manual@1/compare/manual@2.json")).json
        assert (data["before"], data["after"], data["counts"]["pages_same"]) == ("manual@1", "manual@2", 1)
        assert (await person.get("/sources/manual@1/compare/nothing")).status == 404


async def test_why_pages_would_go_is_said_in_words(person: Person) -> None:
    await hold(person)
    held = (await person.get("/sources/many.json")).json["held"]
    (group,) = held["groups"]
    assert (group["gone"], group["why"]) == (18, "no page links to them any more")
    assert "18 no page links to them any more" in (await person.get("/sources/many")).words


async def test_what_a_limit_left_out_is_said_with_what_changes_it(world: World) -> None:
    paths = [f"/p{number}" for number in range(9)]
    world.site.set("/", html("Home", "All about grain.", links=paths))
    for path in paths:
        world.site.set(path, a_page(path, "barley", path))
    await world.add(max_pages="4")
    receipt = await world.sync()
    over = receipt.counters.ignored["over_max_pages"]
    assert (receipt.result.state, over > 0) == ("capped", True)
    async with browsing(world) as person:
        run = await person.get("/sources/docs/runs/1")
        assert "Capped" in run.words
        assert f"Left out: {over} addresses over max_pages : rowen edit raises" in run.words
        rows = (await person.get("/sources/docs/runs/1.json")).json["receipt"]
        assert (rows[0]["tier"], rows[0]["number"]) == ("left out", over)
        problems = (await person.get("/sources/docs.json")).json["problems"]
        assert {"reason": "addresses over `max_pages`", "number": over, "failed": False} == {
            name: problems[0][name] for name in ("reason", "number", "failed")
        }


async def test_a_run_that_failed_as_a_whole_is_a_problem_of_the_last_run(world: World) -> None:
    world.site.set("/robots.txt", "oops", status=500)
    await world.add()
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED and not receipt.counters.failed
    async with browsing(world) as person:
        words = (await person.get("/sources/docs")).words
        listed = (await person.get("/")).words
        run = (await person.get(f"/sources/docs/runs/{receipt.run_id}")).words
    assert "nothing taken in" in run and "nothing new" not in run
    assert "robots.txt" in words.partition("Problems")[2].partition("Settings")[0]
    assert "None in the last run" not in words
    assert "nothing taken in" in words and "nothing taken in its last run failed" in listed
    assert "nothing new" not in words + listed


async def test_a_stopped_source_says_the_next_step_on_its_page_and_in_the_list(reader: Person) -> None:
    reader.world.site.set("/", "who are you", status=401)
    await reader.world.sync()
    for address in ("/", "/sources/docs"):
        words = (await reader.get(address)).words
        assert "docs has stopped" in words and "401" in words
        assert "Fix it, then rowen resume docs" in words


async def test_the_api_answers_beside_the_page(person: Person) -> None:
    assert (await person.get("/")).status == 200
    assert [source["name"] for source in (await person.get("/api/v1/sources")).json["sources"]] == ["docs"]
    assert "/api/v1/search" in (await person.get("/openapi.json")).json["paths"]
