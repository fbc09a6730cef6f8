"""What differs by HTTP: words of a document, two versions of one thing; one page looked at; subscriptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.safety.access import Scope
from rowen.managing import sources
from tests.doors.rest.conftest import Api, serving
from tests.support.gate import StillClock
from tests.support.manual import a_manual_page
from tests.support.site import Page, Site, html
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

DOCS = "/api/v1/sources/docs"
HOOK = "https://hooks.example.org/rowen"


async def test_the_words_of_a_document_that_differ_are_pieces_of_both_texts(harvested: Api) -> None:
    harvested.world.site.set("/rye", html("Rye", "Everybody has 25 days."))
    await harvested.post(DOCS + "/sync")
    (change,) = (await harvested.get(DOCS + "/diff")).json["changes"]
    harvested.world.site.set("/rye", html("Rye", "Everybody has 23 days."))
    await harvested.post(DOCS + "/sync")
    whole = (await harvested.get(DOCS + "/diff/document", params={"reference": change["reference"]})).json
    assert (whole["change"], whole["from_generation"], whole["to_generation"]) == ("changed", 2, 3)
    assert (whole["words_added"], whole["words_removed"], whole["title"]) == (1, 1, "Rye")
    pieces = [piece for section in whole["sections"] for piece in section["pieces"]]
    assert [piece["text"].strip() for piece in pieces if piece["mark"] == "removed"] == ["25"]
    assert [piece["text"].strip() for piece in pieces if piece["mark"] == "added"] == ["23"]
    first = {"reference": change["reference"], "from": "0", "to": "1", "folded": "true"}
    assert (await harvested.get(DOCS + "/diff/document", params=first)).json["change"] == "added"
    nowhere = await harvested.get(DOCS + "/diff/document?reference=nowhere")
    assert nowhere.is_problem(404, "not_found")
    assert (await harvested.get(DOCS + "/diff/document?reference=x&to=99")).is_problem(404, "not_found")


async def test_a_diff_says_that_its_newer_generation_is_held(harvested: Api) -> None:
    assert (await harvested.get(DOCS + "/diff")).json["held"] is False
    harvested.world.site.set("/", html("Home", "nothing any more"))
    assert (await harvested.post(DOCS + "/sync")).json["held_generation"] == 2
    found = (await harvested.get(DOCS + "/diff")).json
    assert (found["from_generation"], found["to_generation"], found["held"]) == (1, 2, True)


async def test_two_versions_are_compared(tmp_path: Path) -> None:
    def function(signature: str) -> str:
        return f"# Tasks\n\n## `aio.task()` {{#aio.task .function}}\n\n`{signature}`\n\nAdds a task.\n"

    pages: dict[str, str | bytes | Page] = {}
    for version, text in (("1", function("task(coro)")), ("2", function("task(coro, context=None)"))):
        pages[f"/{version}/"] = html("Docs", "All of it.", links=[f"/{version}/t.md"])
        pages[f"/{version}/t.md"] = a_manual_page(text)
    with Site(pages) as site:
        async with a_world(tmp_path, site, clock=StillClock()) as world:
            for version in ("1", "2"):
                location = f"{site.url}/{version}/"
                await sources.add(world.ports, location, name="aio", version=version)
                await world.sync(f"aio@{version}")
            async with serving(world) as api:
                found = (await api.get("/api/v1/compare?before=aio@1&after=2")).json
                assert (found["before"], found["after"]) == ("aio@1", "aio@2")
                assert [one["words"] for one in found["symbols"]] == ["`aio.task`: new parameter `context`"]
                missing = await api.get("/api/v1/compare?before=aio@1&after=nothing")
                assert missing.is_problem(404, "not_found")


async def test_a_page_is_looked_at_and_nothing_is_stored(harvested: Api) -> None:
    site, ports = harvested.world.site, harvested.world.ports
    asked = {"url": f"{site.url}/rye"}
    assert (await harvested.get("/api/v1/inspect", params=asked)).status == 422
    near = replace(ports, fetch=replace(ports.fetch, allow_private=True))
    async with serving(harvested.world, ports=near) as api:
        found = (await api.get("/api/v1/inspect", params=asked)).json
        assert (found["indexed"], found["why_not"], found["status"]) == (True, None, 200)
        assert found["verdict"].startswith("would be indexed")
        assert found["sections"] == len(found["section_list"]) > 0
        assert found["markdown"]
        assert found["known"]["state"] == "present"
    assert len((await harvested.get(DOCS + "/documents")).json["documents"]) == 3
    reader = await harvested.token(Scope.READ)
    assert (await harvested.get("/api/v1/inspect?url=https://e.example/", headers=reader)).status == 403


async def test_subscriptions_are_made_listed_and_removed(harvested: Api) -> None:
    assert (await harvested.get("/api/v1/subscriptions")).json == {"subscriptions": []}
    new = {"path": "*", "url": HOOK, "sources": ["docs"], "name": "mine"}
    made = await harvested.post("/api/v1/subscriptions", json=new)
    assert (made.status, made.headers["Location"]) == (201, "/api/v1/subscriptions/mine")
    assert (made.json["asks"], made.json["tells"], made.json["sources"]) == ({"path": "*"}, HOOK, ["docs"])
    assert (made.json["entries"], made.json["messages"], made.json["pending"]) == (3, 0, False)
    (listed,) = (await harvested.get("/api/v1/subscriptions")).json["subscriptions"]
    assert listed == (await harvested.get("/api/v1/subscriptions/mine")).json
    assert (await harvested.post("/api/v1/subscriptions", json=new)).is_problem(409, "conflict")
    both = {**new, "name": "other", "heading": "x"}
    assert (await harvested.post("/api/v1/subscriptions", json=both)).is_problem(422, "bad_setting")
    near = {**new, "name": "near", "url": "http://127.0.0.1:1/"}
    assert (await harvested.post("/api/v1/subscriptions", json=near)).is_problem(422, "bad_setting")
    nobody = {**new, "name": "x", "sources": ["nobody"]}
    assert (await harvested.post("/api/v1/subscriptions", json=nobody)).is_problem(404, "not_found")
    gone = await harvested.ask("DELETE", "/api/v1/subscriptions/mine")
    assert gone.json == {"removed": "mine"}
    assert (await harvested.get("/api/v1/subscriptions/mine")).is_problem(404, "not_found")


async def test_a_reader_may_list_subscriptions_and_not_make_them(harvested: Api) -> None:
    reader = await harvested.token(Scope.READ)
    assert (await harvested.get("/api/v1/subscriptions", headers=reader)).status == 200
    new = {"path": "*", "url": HOOK}
    assert (await harvested.post("/api/v1/subscriptions", json=new, headers=reader)).status == 403
