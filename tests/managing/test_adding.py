"""Adding a source asks the server first, and says what it found."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rowen.core.search.hit import Filters
from rowen.errors import BadLocation, ConfigError, Conflict, NotFound, UserError
from rowen.managing import find as finding
from rowen.managing import sources
from rowen.managing.registry import apply as applying
from rowen.managing.registry import rules as registry
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "x")}) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def test_it_says_what_it_found(world: World) -> None:
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /x\nCrawl-delay: 1\n", content_type="text/plain")
    world.site.set("/sitemap.xml", "<urlset/>", content_type="application/xml")
    added = await sources.add(world.ports, world.site.url, name="docs")
    assert added.source.location == world.site.url + "/"
    assert added.source.kind == "web"
    said = "\n".join(added.findings)
    for word in ("kind `web`", "ETag", "robots.txt: 1 s between requests", "sitemap"):
        assert word in said


async def test_it_says_that_a_robots_txt_fails(world: World) -> None:
    world.site.set("/robots.txt", "oops", status=530)
    added = await sources.add(world.ports, world.site.url, name="docs")
    assert "robots.txt answers 530: nothing is indexed until it can be read" in "\n".join(added.findings)
    own = await sources.add(world.ports, world.site.url, name="own", settings={"robots": "false"})
    assert "robots.txt" not in "\n".join(own.findings)


async def test_it_takes_the_address_a_redirect_leads_to(world: World) -> None:
    world.site.set("/start", redirect="/", status=302)
    added = await sources.add(world.ports, world.site.url + "/start", name="docs")
    assert added.source.location == world.site.url + "/"
    assert "redirects to" in added.findings[0]


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_an_address_with_nothing_there_is_not_added(world: World, status: int) -> None:
    world.site.set("/x", "no", status=status)
    with pytest.raises(BadLocation, match=f"{status} from the server"):
        await sources.add(world.ports, world.site.url + "/x", name="docs")
    assert await world.store.sources() == []


async def test_an_address_that_cannot_be_indexed_is_not_added(world: World) -> None:
    world.site.set("/x", b"\x89PNG", content_type="image/png")
    with pytest.raises(BadLocation, match="`image/png`, which cannot be indexed"):
        await sources.add(world.ports, world.site.url + "/x", name="docs")


@pytest.mark.parametrize(
    "location", ["", "ftp://x.example/", "mailto:a@b.example", "http://", "javascript:1"]
)
async def test_what_is_no_address_is_refused(world: World, location: str) -> None:
    with pytest.raises(BadLocation, match="not an http or https address"):
        await sources.add(world.ports, location, name="docs")


async def test_a_forgotten_scheme_gets_a_suggestion(world: World) -> None:
    with pytest.raises(BadLocation) as caught:
        await sources.add(world.ports, "docs.example.org/guide", name="docs")
    assert caught.value.hint == "did you mean `https://docs.example.org/guide`?"


async def test_an_unknown_host_is_named(world: World) -> None:
    with pytest.raises(BadLocation, match="no such host"):
        await sources.add(world.ports, "http://no-such-host.invalid/", name="docs")


async def test_a_server_that_is_not_there_can_be_added_on_request_only(world: World) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        location = f"http://127.0.0.1:{free.getsockname()[1]}/"
    with pytest.raises(BadLocation, match="does not answer") as caught:
        await sources.add(world.ports, location, name="docs")
    assert "--no-check" in (caught.value.hint or "")
    added = await sources.add(world.ports, location, name="docs", check=False)
    assert added.source.location == location


async def test_passwords_in_an_address_are_refused_and_not_repeated(world: World) -> None:
    with pytest.raises(BadLocation) as caught:
        await sources.add(world.ports, "https://me:hunter2@docs.example/", name="docs")
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in str(caught.value.facts)


async def test_a_name_can_be_used_once(world: World) -> None:
    await sources.add(world.ports, world.site.url, name="docs")
    with pytest.raises(Conflict, match="source `docs`: exists already"):
        await sources.add(world.ports, world.site.url, name="docs")


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65, "-x", "a@b"])
async def test_names_are_plain(world: World, name: str) -> None:
    with pytest.raises(UserError, match="expected up to 64"):
        await sources.add(world.ports, world.site.url, name=name)


async def test_an_unknown_kind_or_setting_is_refused_before_the_server_is_asked(world: World) -> None:
    with pytest.raises(ConfigError, match="kind `wbe`"):
        await sources.add(world.ports, world.site.url, name="docs", kind="wbe")
    with pytest.raises(ConfigError, match="setting `depth`"):
        await sources.add(world.ports, world.site.url, name="docs", settings={"depth": "3"})
    assert world.site.requests == []


async def test_versions_share_a_name(world: World) -> None:
    for version in ("1", "2"):
        await sources.add(world.ports, world.site.url, name="docs", version=version)
    assert (await finding.find(world.ports.store, "docs@2")).version == "2"
    with pytest.raises(NotFound, match="has 2 versions"):
        await finding.find(world.ports.store, "docs")
    assert len(await finding.find_all(world.ports.store, ["docs"])) == 2


async def test_a_reader_gets_the_version_that_was_meant(world: World) -> None:
    for version in ("2.7", "3.9", "3.12"):
        await sources.add(world.ports, world.site.url, name="py", version=version)
    meant = {
        wish: (await finding.choose(world.ports.store, wish)).label
        for wish in ("py", "py@3", "py@3.9", "py@2")
    }
    assert meant == {"py": "py@3.12", "py@3": "py@3.12", "py@3.9": "py@3.9", "py@2": "py@2.7"}
    with pytest.raises(NotFound, match="no version of `py` fits"):
        await finding.choose(world.ports.store, "py@1")
    with pytest.raises(NotFound, match="no such source"):
        await finding.choose(world.ports.store, "ruby@3")


async def test_the_same_text_under_two_versions_is_stored_and_embedded_once(world: World) -> None:
    for version in ("1", "2"):
        await sources.add(world.ports, world.site.url, name="docs", version=version)
    first = await world.sync("docs@1")
    second = await world.sync("docs@2")
    assert first.counters.embeddings_computed > 0
    assert second.counters.embeddings_computed == second.counters.passages_new == 0
    answer = await world.search("Home", filters=Filters(source_ids=frozenset({second.source.id})))
    assert [hit.version for hit in answer.hits] == ["2"]


async def test_an_unknown_source_gets_a_suggestion(world: World) -> None:
    with pytest.raises(NotFound) as caught:
        await finding.find(world.ports.store, "docs")
    assert "rowen add" in (caught.value.hint or "")
    await sources.add(world.ports, world.site.url, name="handbook")
    with pytest.raises(NotFound) as caught:
        await finding.find(world.ports.store, "handbok")
    assert caught.value.hint == "did you mean `handbook`?"


async def test_removing_a_source_leaves_nothing_of_it(world: World) -> None:
    added = await sources.add(world.ports, world.site.url, name="docs")
    await world.sync()
    await sources.remove(world.ports, added.source)
    assert await world.store.sources() == []
    assert await world.found("Home") == []


async def test_a_path_with_spaces_that_is_not_there_is_said_not_to_be(world: World) -> None:
    with pytest.raises(BadLocation, match="`my notes/old`: no such file or folder"):
        await sources.add(world.ports, "my notes/old", name=None, guess=True)


async def test_what_was_stored_of_removed_sources_alone_is_looked_for_once_for_all_of_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = registry.Registry(sources=())
    for name in ("one", "two", "three"):
        await sources.add(world.ports, f"{world.site.url}/", name=name)
    vacuums = []

    whole = world.store.vacuum

    async def vacuum(*given: Any, **named: Any) -> Any:
        vacuums.append(named)
        return await whole(*given, **named)

    monkeypatch.setattr(world.store, "vacuum", vacuum)
    steps = await applying.plan(world.ports, listed)
    assert len(await applying.apply(world.ports, listed, steps, prune=True)) == 3
    assert await world.store.sources() == []
    assert vacuums == [{"everything": True}]
    await applying.apply(world.ports, listed, [], prune=True)
    assert len(vacuums) == 1, "without a source that went there is nothing to look for"
