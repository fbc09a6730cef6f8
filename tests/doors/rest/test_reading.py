"""Search, documents, exports and the change feed by HTTP."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.feed import START
from rowen.core.safety.access import Scope
from rowen.core.search.hit import Answer, SearchCall
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest
from tests.doors.rest.conftest import Api, serving
from tests.support.gate import DEADLINE_S, until
from tests.support.site import html
from tests.support.world import World

pytestmark = pytest.mark.anyio

V1 = "/api/v1"


async def test_a_search_answers_with_hits_that_lead_to_documents(harvested: Api) -> None:
    answer = (await harvested.get(f"{V1}/search?q=barley")).json
    assert (answer["query"], answer["mode"], answer["degraded"]) == ("barley", "hybrid", None)
    assert len(answer["hits"]) == 3
    hit = answer["hits"][0]
    document = (await harvested.get(f"{V1}/documents/{hit['document_id']}")).json
    assert document["url"] == hit["url"].partition("#")[0]
    assert "barley" in document["text"]
    assert document["sections"][0]["text"]


async def test_hits_and_documents_say_how_likely_they_are_current(harvested: Api) -> None:
    path = f"{V1}/search?q=barley&mode=keyword"
    (first, *_) = (await harvested.get(path)).json["hits"]
    assert (first["verified_by"], first["p_fresh"]) == ("fetched", None), "nothing was learnt yet"
    for _ in range(2):
        harvested.world.clock.advance(86_400)
        await harvested.world.sync()
    harvested.world.clock.advance(86_400)
    hits = (await harvested.get(path)).json["hits"]
    assert all(0.5 < hit["p_fresh"] < 1.0 for hit in hits)
    number, source = hits[0]["document_id"], hits[0]["source"]
    document = (await harvested.get(f"{V1}/documents/{number}")).json
    (listed,) = [
        one
        for one in (await harvested.get(f"{V1}/sources/{source}/documents")).json["documents"]
        if one["id"] == number
    ]
    (touched, *_) = (await harvested.get(f"{V1}/changes")).json["changes"]
    assert document["p_fresh"] == listed["p_fresh"] == hits[0]["p_fresh"]
    assert touched["document"]["p_fresh"] is not None
    assert document["verified_by"] == "not_modified"
    then = (await harvested.get(f"{path}&as_of=1h")).json["hits"]
    assert {hit["p_fresh"] for hit in then} == {None}, "an earlier time is not current"


async def test_a_search_may_ask_again_before_it_answers(harvested: Api) -> None:
    path = f"{V1}/search?q=barley&mode=keyword"
    assert (await harvested.get(path)).json["rechecked"] is None
    sure = (await harvested.get(f"{path}&fresh=0.99")).json["rechecked"]
    assert sure["wanted"] == 0.99
    assert sure["asked"] + sure["not_asked"] == 3, "how fast they change is not known yet"
    assert (await harvested.get(f"{path}&fresh=1.5")).is_problem(422, "invalid")
    reader = await harvested.token(Scope.READ)
    refused = await harvested.get(f"{path}&fresh=0.99", headers=reader)
    assert refused.is_problem(403, "forbidden"), "it makes a run: that is more than reading"
    assert (await harvested.get(path, headers=reader)).status == 200


async def test_an_address_is_present_gone_or_unknown(harvested: Api) -> None:
    site = harvested.world.site
    hit = (await harvested.get(f"{V1}/search?q=barley")).json["hits"][0]
    url = hit["url"].partition("#")[0]
    present = (await harvested.get(f"{V1}/addresses", params={"url": url})).json
    assert (present["state"], present["document_id"]) == ("present", hit["document_id"])
    source = await harvested.world.source()
    pages = await harvested.world.pages()
    last = max(pages)
    site.remove(last)
    await harvested.world.sync()
    gone = (await harvested.get(f"{V1}/addresses", params={"url": site.url + last})).json
    assert (gone["state"], gone["by"], gone["source"]) == ("gone", "http_404", source.label)
    assert gone["at"] is not None
    unknown = (await harvested.get(f"{V1}/addresses", params={"url": site.url + "/nowhere"})).json
    assert (unknown["state"], unknown["at"], unknown["failure"]) == ("unknown", None, None)


async def test_a_record_is_what_the_source_sent(harvested: Api) -> None:
    store = harvested.world.store
    hit = (await harvested.get(f"{V1}/search?q=barley")).json["hits"][0]
    assert (await harvested.get(f"{V1}/documents/{hit['document_id']}/record")).is_problem(404, "not_found")
    assert (await harvested.get(f"{V1}/documents/999/record")).is_problem(404, "not_found")
    source = await a_source(store, "portal")
    lease, run = await a_run(store, source)
    draft = replace(a_draft("rain", "Rain"), record=b'{"id": "rain", "odd": [null, 1.5]}')
    await ingest(store, lease, run, await store.stage(lease, run, [draft], now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    (document,) = await store.documents(source.id)
    found = (await harvested.get(f"{V1}/documents/{document.id}/record")).json
    assert (found["reference"], found["record"]) == ("rain", {"id": "rain", "odd": [None, 1.5]})


async def test_a_search_is_narrowed_and_paged(harvested: Api) -> None:
    await harvested.world.add("other", path="/oats")
    await harvested.post(f"{V1}/sources/other/sync")

    async def urls(query: str) -> list[str]:
        answer = await harvested.get(f"{V1}/search?q=barley&mode=keyword&{query}")
        assert answer.status == 200, answer.json
        return [(hit["source"], hit["url"]) for hit in answer.json["hits"]]

    everything = await urls("limit=50")
    assert len(everything) == 3, "both sources have one page with the same text: one hit"
    assert await urls("limit=2") + await urls("limit=2&offset=2") == everything
    assert len(await urls("source=other")) == 1
    assert len(await urls("source=other&source=docs")) == 3
    assert len(await urls("kind=web")) == 3
    assert await urls("kind=files") == []
    assert await urls("since=2030-01-01T00:00:00Z") == []
    assert len(await urls("since=2020-01-01")) == 3
    assert await urls("meta.tags=water") == []
    assert len(await urls("language=en")) == 3
    assert await urls("language=de") == []
    hits = (await harvested.get(f"{V1}/search?q=barley&mode=keyword")).json["hits"]
    (twin,) = [also for hit in hits for also in hit["also_at"]]
    assert twin["source"] == "other"
    assert twin["url"].endswith("/oats")
    assert (await harvested.get(f"{V1}/documents/{twin['document_id']}")).status == 200


async def test_a_search_that_makes_no_sense_is_refused(harvested: Api) -> None:
    assert (await harvested.get(f"{V1}/search")).is_problem(422, "invalid")
    assert (await harvested.get(f"{V1}/search?q=%20")).is_problem(422, "invalid")
    assert (await harvested.get(f"{V1}/search?q=!&mode=keyword")).is_problem(400, "bad_call")
    refused = await harvested.get(f"{V1}/search?q=-barley")
    assert refused.is_problem(400, "bad_call")
    assert "only words that must not stand, and none to look for" in refused.text
    assert (await harvested.get(f"{V1}/search?q=a&source=x")).is_problem(404, "not_found")
    assert (await harvested.get(f"{V1}/search?q=a&kind=x")).is_problem(422, "bad_setting")
    assert (await harvested.get(f"{V1}/search?q=a&mode=x")).is_problem(422, "invalid")
    assert (await harvested.get(f"{V1}/search?q=a&limit=51")).is_problem(422, "invalid")


async def test_a_search_and_a_document_as_of_an_earlier_time(harvested: Api) -> None:
    world = harvested.world
    moment = world.clock.now().isoformat().replace("+00:00", "Z")
    before = (await harvested.get(f"{V1}/search?q=oats&source=docs")).json
    world.clock.advance(60)
    world.site.set("/oats", html("Oats", "Nothing but spelt."))
    assert (await harvested.post(f"{V1}/sources/docs/sync")).json["generation"] == 2
    now = (await harvested.get(f"{V1}/search?q=oats&source=docs")).json
    assert now["as_of"] is None and now["hits"] != before["hits"]

    for then in (f"as_of={moment}", "as_of=60s", "generation=1"):
        answer = (await harvested.get(f"{V1}/search?q=oats&source=docs&{then}")).json
        (source,) = answer["as_of"]["sources"]
        assert (source["source"], source["generation"], source["missing"]) == ("docs", 1, None)
        verified = {"verified_at": None, "verified_by": None}
        assert answer["hits"] == [{**hit, **verified} for hit in before["hits"]], "hit for hit"
    (old,) = [hit["document_id"] for hit in before["hits"] if hit["url"].partition("#")[0].endswith("/oats")]
    assert (await harvested.get(f"{V1}/documents/{old}")).is_problem(404, "not_found")
    document = (await harvested.get(f"{V1}/documents/{old}?as_of={moment}")).json
    assert (document["generation"], document["verified_at"]) == (1, None)
    assert document["sections"]


async def test_an_earlier_time_that_makes_no_sense_is_refused(harvested: Api) -> None:
    assert (await harvested.get(f"{V1}/search?q=a&as_of=soon")).is_problem(400, "bad_call")
    assert (await harvested.get(f"{V1}/search?q=a&as_of=2999-01-01")).is_problem(400, "bad_call")
    assert (await harvested.get(f"{V1}/search?q=a&as_of=2001-01-01")).is_problem(404, "not_found")
    assert (await harvested.get(f"{V1}/search?q=a&generation=7")).is_problem(404, "not_found")
    assert (await harvested.get(f"{V1}/search?q=a&generation=0")).is_problem(422, "invalid")
    assert (await harvested.get(f"{V1}/search?q=a&generation=1&as_of=1d")).is_problem(400, "bad_call")
    assert (await harvested.get(f"{V1}/documents/1?as_of=soon")).is_problem(400, "bad_call")


async def test_a_search_without_the_model_says_so(harvested: Api) -> None:
    harvested.world.embedder.down = True
    answer = (await harvested.get(f"{V1}/search?q=barley")).json
    assert answer["mode"] == "keyword"
    assert "is away" in answer["degraded"]


async def test_documents_come_in_pages(harvested: Api) -> None:
    first = (await harvested.get(f"{V1}/sources/docs/documents?limit=2")).json
    assert len(first["documents"]) == 2
    rest = await harvested.get(f"{V1}/sources/docs/documents", params={"limit": 2, "after": first["next"]})
    assert (len(rest.json["documents"]), rest.json["next"]) == (1, None)
    assert (await harvested.get(f"{V1}/documents/999")).is_problem(404, "not_found")


async def test_an_old_version_of_a_document_is_not_visible(harvested: Api) -> None:
    listed = (await harvested.get(f"{V1}/sources/docs/documents")).json["documents"]
    (rye,) = [one["id"] for one in listed if one["url"].endswith("/rye")]
    harvested.world.site.set("/rye", html("Rye", "entirely new"))
    await harvested.post("/scraping/docs/sync")
    assert (await harvested.get(f"{V1}/documents/{rye}")).is_problem(404, "not_found")


async def test_a_source_is_exported_whole(
    harvested: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(drafts))
    lines = await harvested.get(f"{V1}/sources/docs/export")
    assert lines.headers["Content-Disposition"] == 'attachment; filename="docs.jsonl"'
    records = [json.loads(line) for line in lines.text.splitlines()]
    assert {record["source"] for record in records} == {"docs"}
    assert all("barley" in record["text"] for record in records)
    table = await harvested.get(f"{V1}/sources/docs/export?format=csv&text=false")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["url"] for row in rows] == [record["url"] for record in records]
    assert "text" not in rows[0]
    assert list(drafts.iterdir()) == [], "nothing is left behind"
    assert (await harvested.get(f"{V1}/sources/x/export")).is_problem(404, "not_found")


async def test_changes_are_told_from_a_cursor_on(harvested: Api) -> None:
    everything = (await harvested.get(f"{V1}/changes")).json
    assert [item["change"] for item in everything["changes"]] == ["added"] * 3
    assert everything["changes"][0]["document"]["title"]
    page = (await harvested.get(f"{V1}/changes?limit=2")).json
    rest = (await harvested.get(f"{V1}/changes?since={page['cursor']}")).json
    assert page["changes"] + rest["changes"] == everything["changes"]
    nothing = (await harvested.get(f"{V1}/changes?since={rest['cursor']}")).json
    assert nothing == {"changes": [], "cursor": rest["cursor"]}
    assert (await harvested.get(f"{V1}/changes?since=x")).is_problem(422, "invalid")
    assert (await harvested.get(f"{V1}/changes?wait_s=61")).is_problem(422, "invalid")
    assert len((await harvested.get(f"{V1}/changes?source=docs")).json["changes"]) == 3


async def test_a_removed_source_is_told_to_those_who_wait_and_found_by_its_name(harvested: Api) -> None:
    end = (await harvested.get(f"{V1}/changes")).json["cursor"]
    waiting = [
        asyncio.create_task(harvested.get(f"{V1}/changes?since={end}&wait_s=60&{query}"))
        for query in ("", "source=docs")
    ]
    await until(lambda: harvested.queue.feed_wait.waiting == 2)
    assert (await harvested.ask("DELETE", f"{V1}/sources/docs")).status == 200
    for one in waiting:
        (told,) = (await one).json["changes"]
        assert (told["source"], told["change"], told["reference"]) == ("docs", "source_removed", "")
        assert told["document"] is None
    (again,) = (await harvested.get(f"{V1}/changes?source=docs")).json["changes"]
    assert again == told
    assert (await harvested.get(f"{V1}/changes?source=dogs")).is_problem(404, "not_found")


async def test_waiting_for_changes_ends_with_the_first_one(api: Api) -> None:
    waiting = [
        asyncio.create_task(api.get(f"{V1}/changes?since={START}&wait_s=60&{query}"))
        for query in ("", "source=docs")
    ]
    await until(lambda: api.queue.feed_wait.waiting == 2)
    await api.post("/scraping/docs/sync")
    for one in waiting:
        assert len((await asyncio.wait_for(one, DEADLINE_S)).json["changes"]) == 3


async def test_waiting_for_changes_ends_when_the_caller_goes_away(api: Api) -> None:
    waiting = asyncio.create_task(api.get(f"{V1}/changes?wait_s=60"))
    await until(lambda: api.queue.feed_wait.waiting == 1)
    waiting.cancel()
    await until(lambda: api.queue.feed_wait.waiting == 0)


async def test_waiting_for_changes_ends_with_nothing_when_there_are_none(api: Api) -> None:
    waiting = asyncio.create_task(api.get(f"{V1}/changes?wait_s=20"))
    await until(lambda: api.queue.feed_wait.waiting == 1)
    api.world.clock.advance(21)
    answer = await asyncio.wait_for(waiting, DEADLINE_S)
    assert answer.json == {"changes": [], "cursor": str(START)}


async def test_companies_are_empty_without_job_boards(harvested: Api) -> None:
    assert (await harvested.get(f"{V1}/companies?q=acme&min_open=1")).json == {"companies": []}
    assert (await harvested.get(f"{V1}/companies/acme")).is_problem(404, "not_found")


async def test_a_changelog_comes_as_json_markdown_and_atom(harvested: Api) -> None:
    (source,) = await harvested.world.store.sources()
    where = f"{V1}/sources/{source.label}/changelog"
    found = (await harvested.get(where)).json
    assert found["counts"]["added"] == len(found["documents"]) > 0
    assert found["documents"][0]["notes"] == []
    text = await harvested.get(f"{where}?format=markdown")
    assert text.headers["Content-Type"].startswith("text/markdown")
    assert "### New" in text.text
    feed = await harvested.get(f"{where}?format=atom")
    assert feed.headers["Content-Type"].startswith("application/atom+xml")
    assert "<entry>" in feed.text
    assert (await harvested.get(f"{V1}/sources/nobody/changelog")).is_problem(404, "not_found")
    assert (await harvested.get(f"{where}?since=2999-01-01T00:00:00Z")).json["documents"] == []


async def test_what_another_process_answered_is_passed_on_as_it_is(world: World) -> None:
    asked: list[tuple[str, int, int]] = []

    class Elsewhere:
        async def __call__(self, call: SearchCall) -> Answer | None:
            raise AssertionError("the REST door wants JSON")

        async def page(self, call: SearchCall, *, limit: int, offset: int) -> bytes | None:
            asked.append((call.query, limit, offset))
            return None if call.query == "rye" else b'{"as": "it is"}'

    await world.add()
    async with serving(world, ports=replace(world.ports, search_elsewhere=Elsewhere())) as api:
        await api.post(f"{V1}/sources/docs/sync")
        answer = await api.get(f"{V1}/search?q=oats&limit=3&offset=2")
        assert (answer.status, answer.text) == (200, '{"as": "it is"}')
        assert answer.headers["Content-Type"] == "application/json"
        # Without an answer from there, and for an earlier time, this process looks.
        assert (await api.get(f"{V1}/search?q=rye")).json["hits"]
        assert (await api.get(f"{V1}/search?q=oats&source=docs&generation=1")).json["hits"]
        assert asked == [("oats", 3, 2), ("rye", 10, 0)]
