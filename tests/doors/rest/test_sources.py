"""Sources by HTTP: what is there, what may be added by whom, and what is left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.source import ADDED_BY, API
from rowen.engine.ports import Ports
from tests.doors.rest.conftest import Api, serving
from tests.support.world import World

pytestmark = pytest.mark.anyio

SOURCES = "/api/v1/sources"


def allowing(world: World, **settings: object) -> Ports:
    return replace(world.ports, fetch=replace(world.ports.fetch, **settings))  # type: ignore[arg-type]


async def test_sources_are_listed_with_the_state_they_are_in(harvested: Api) -> None:
    (source,) = (await harvested.get(SOURCES)).json["sources"]
    assert (source["label"], source["status"], source["documents"]) == ("docs", "SUCCESS", 3)
    assert (await harvested.get(SOURCES + "/docs")).json == source
    status = (await harvested.get("/api/v1/status")).json
    assert status["sources"] == [source]
    assert status["embedding"]["search_model"] == "fake"


async def test_a_source_can_be_added_synced_and_removed(world: World) -> None:
    async with serving(world, ports=allowing(world, allow_private=True)) as api:
        new = {
            "location": world.site.url,
            "name": "new",
            "version": "1.0",
            "settings": {"max_depth": "0"},
            "every": "6h",
        }
        added = await api.post(SOURCES, json=new)
        assert (added.status, added.json["source"]) == (201, "new@1.0")
        assert added.headers["Location"] == SOURCES + "/new@1.0"
        assert added.json["findings"]
        assert api.queue.wake.is_set()
        shown = (await api.get(added.headers["Location"])).json
        assert (shown["every_s"], shown["location"]) == (21_600, world.site.url + "/")
        assert (await api.post(SOURCES + "/new@1.0/sync")).json["created"] == 1
        assert (await api.post(SOURCES, json=new)).is_problem(409, "conflict")
        removed = await api.ask("DELETE", SOURCES + "/new@1.0")
        assert removed.json == {"source": "new@1.0", "removed": True, "documents": 1}
        assert (await api.get(SOURCES + "/new@1.0")).is_problem(404, "not_found")


async def test_a_source_that_was_added_by_api_says_so(world: World) -> None:
    async with serving(world, ports=allowing(world, allow_private=True)) as api:
        await api.post(SOURCES, json={"location": world.site.url, "name": "new"})
        assert (await world.source("new")).metadata[ADDED_BY] == API


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "169.254.169.254", "10.0.0.1"])
async def test_private_addresses_are_refused_when_a_source_is_added(api: Api, host: str) -> None:
    api.world.site.clear_log()
    location = f"http://{host}:{api.world.site.port}/"
    answer = await api.post(SOURCES, json={"location": location, "name": "new"})
    assert answer.is_problem(422, "bad_location")
    assert api.world.site.requests == []
    assert [one["name"] for one in (await api.get(SOURCES)).json["sources"]] == ["docs"]


async def test_private_addresses_are_refused_in_every_later_run(world: World) -> None:
    async with serving(world, ports=allowing(world, allow_private=True)) as api:
        await api.post(SOURCES, json={"location": world.site.url, "name": "new"})
    world.site.clear_log()
    async with serving(world) as api:
        receipt = (await api.post(SOURCES + "/new/sync")).json
        assert receipt["status"] == "failed"
        assert world.site.requests == []


async def test_folders_are_read_where_the_operator_allows_it_and_nowhere_else(
    world: World, tmp_path: Path
) -> None:
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    for folder in (allowed, other):
        folder.mkdir()
        (folder / "a.md").write_text("# A\n\nbarley")
    (allowed / "link").symlink_to(other)
    async with serving(world, ports=allowing(world, allowed_roots=(str(allowed),))) as api:
        added = await api.post(SOURCES, json={"location": str(allowed), "name": "good"})
        assert (added.status, added.json["kind"]) == (201, "files")
        assert (await api.post(SOURCES + "/good/sync")).json["created"] == 1
        for number, bad in enumerate((other, allowed / "link", tmp_path, Path("/etc/passwd"))):
            for location in (str(bad), bad.as_uri(), f"git+{bad.as_uri()}"):
                answer = await api.post(SOURCES, json={"location": location, "name": f"bad{number}"})
                assert answer.status == 422, location
        assert [one["name"] for one in (await api.get(SOURCES)).json["sources"]] == ["good"]


async def test_variables_of_this_machine_are_not_for_callers(world: World) -> None:
    world.secrets["HOME_KEY"] = "very-secret-value"
    new = {"location": world.site.url, "name": "new", "settings": {"bearer": "${HOME_KEY}"}}
    async with serving(world, ports=allowing(world, allow_private=True)) as api:
        answer = await api.post(SOURCES, json=new)
        assert answer.is_problem(422, "bad_setting")
        assert world.site.requests == []
    allowed = allowing(world, allow_private=True, allowed_variables=("HOME_KEY",))
    async with serving(world, ports=allowed) as api:
        answer = await api.post(SOURCES, json=new)
        assert answer.status == 201
        assert "very-secret-value" not in answer.text
        assert answer.json["settings"] == {"bearer": "${HOME_KEY}"}


async def test_a_mistake_in_a_new_source_is_named(api: Api) -> None:
    for new, reason in (
        ({"location": "https://x.example/", "name": "n", "kind": "wb"}, "bad_setting"),
        ({"location": "https://x.example/", "name": "n", "settings": {"max_depht": "1"}}, "bad_setting"),
        ({"location": "https://x.example/", "name": "n", "every": "soon"}, "bad_setting"),
        ({"location": "ftp://x.example/", "name": "n"}, "bad_location"),
        ({"location": "https://user:geheim@x.example/", "name": "n"}, "bad_location"),
    ):
        answer = await api.post(SOURCES, json=new)
        assert answer.is_problem(422, reason), new
        assert "geheim" not in answer.text


async def test_a_paused_source_is_left_alone_until_it_is_resumed(api: Api) -> None:
    assert (await api.post(SOURCES + "/docs/pause")).json == {"source": "docs", "paused": True}
    assert (await api.get(SOURCES + "/docs")).json["paused"] is True
    assert (await api.post(SOURCES + "/docs/resume")).json == {"source": "docs", "paused": False}
    assert (await api.get(SOURCES + "/docs")).json["paused"] is False
