"""A source that came over the network reaches nothing private: not when it is added, not in any run.

127.0.0.2 plays the part of a public address here; whoever asks 127.0.0.1 has got too far.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowen.core.run import RunStatus
from rowen.core.safety import addresses
from rowen.core.safety.addresses import Address
from rowen.core.source import ADDED_BY, API
from rowen.engine.ports import FetchSettings
from rowen.engine.receipt import Receipt
from rowen.errors import AddressRefused, BadLocation, ConfigError, NotFound
from rowen.managing import estimate, sources
from tests.support.browsers import in_a_browser
from tests.support.git_repository import WorkingCopy
from tests.support.github_api import GitHubApi
from tests.support.names import Names
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

PUBLIC = "127.0.0.2"


@pytest.fixture(autouse=True)
def one_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_public(address: Address) -> bool:
        return str(address) == PUBLIC or addresses.is_public(address)

    monkeypatch.setattr("rowen.adapters.http.fetcher.is_public", is_public)


@pytest.fixture
def private() -> Iterator[Site]:
    pages = {"/": html("Inside", "secret"), "/robots.txt": "", "/llms.txt": "# Inside\n\n- [x](/x.md)\n"}
    with Site(pages) as site:
        yield site
        assert site.requests == []


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley", links=["/a.html"])}, host=PUBLIC) as site:
        site.set("/a.html", a_page("/a.html", "rye"))
        async with a_world(tmp_path, site) as made:
            yield made


async def by_api(
    world: World, location: str, *, kind: str | None = None, check: bool = True, **settings: str
) -> sources.Added:
    return await sources.add(
        world.ports, location, name="docs", kind=kind, settings=settings, check=check, origin=API
    )


def allowing(world: World, **options: Any) -> None:
    world.ports = replace(world.ports, fetch=FetchSettings(**options))


async def test_a_public_site_is_added_and_harvested_like_any_other(world: World) -> None:
    added = await by_api(world, world.site.url)
    assert added.source.metadata == {ADDED_BY: API}
    assert (await world.sync()).counters.created == 2
    assert (await world.source()).metadata[ADDED_BY] == API, "it stays so through its runs"


async def test_what_the_operator_types_may_be_private(world: World) -> None:
    with Site({"/": html("Inside", "oats")}) as inside:
        await sources.add(world.ports, inside.url, name="docs")
        assert (await world.sync()).counters.created == 1


HOSTS = ["127.0.0.1", "127.1", "0x7f000001", "017700000001", "2130706433", "localhost", "inside.example"]
HOSTS += ["[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0"]
HOSTS += ["10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"]
HOSTS += ["[fd00::1]", "[fe80::1]", "[ff02::1]"]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_private_location_is_refused_when_it_is_added_and_when_it_is_run(
    world: World, private: Site, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    Names({"inside.example": [["127.0.0.1"]], "localhost": [["127.0.0.1", "::1"]]}).put_in_place(monkeypatch)
    location = f"http://{host}:{private.port}/"
    with pytest.raises(BadLocation, match="not a public address"):
        await by_api(world, location)
    await by_api(world, location, check=False)
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "not a public address" in str(receipt.error)


@pytest.mark.parametrize(
    "kind", ["web", "llms", "ckan", "dcat", "socrata", "opendatasoft", "arcgis", "github", "rest"]
)
async def test_no_kind_of_source_finds_a_way_in(world: World, private: Site, kind: str) -> None:
    location = f"{private.url}/acre/docs" if kind == "github" else private.url
    settings = {"items": "items", "id": "id", "title": "title"} if kind == "rest" else {}
    with pytest.raises(BadLocation):
        await by_api(world, location, kind=kind, **settings)
    await by_api(world, location, kind=kind, check=False, **settings)
    assert (await world.sync()).status is RunStatus.FAILED


async def test_an_estimate_asks_nobody_inside(world: World, private: Site) -> None:
    await by_api(world, private.url, kind="ckan", check=False)
    with pytest.raises(AddressRefused):
        await estimate.cost_of(world.ports, await world.source(), price_per_million_tokens=0)


async def test_a_name_that_was_public_when_it_was_added_is_not_followed_inside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"/": html("Inside", "secret")}, port=world.site.port) as private:
        names = Names({"rebind.example": [[PUBLIC], ["127.0.0.1"]]})
        names.put_in_place(monkeypatch)
        await by_api(world, f"http://rebind.example:{world.site.port}/", kind="web")
        assert (await world.sync()).status is RunStatus.FAILED
        assert private.requests == []
        assert len(names.asked) > 1


@pytest.mark.parametrize("path", ["/", "/a.html", "/robots.txt", "/sitemap.xml"])
async def test_redirects_do_not_lead_inside(world: World, private: Site, path: str) -> None:
    world.site.set("/robots.txt", "User-agent: *\n")
    await by_api(world, world.site.url)
    world.site.set(path, redirect=f"{private.url}/")
    await world.sync()
    assert not await world.found("secret")


async def test_a_location_that_redirects_inside_is_not_added(world: World, private: Site) -> None:
    world.site.set("/", redirect=f"{private.url}/")
    with pytest.raises(BadLocation, match="not a public address"):
        await by_api(world, world.site.url)


async def test_sitemaps_and_robots_that_name_private_addresses_are_not_followed(
    world: World, private: Site
) -> None:
    world.site.set("/robots.txt", f"Sitemap: {private.url}/sitemap.xml\n")
    await by_api(world, world.site.url, scope="domain")
    assert (await world.sync()).counters.created == 2


async def test_the_api_of_a_repository_may_not_be_private_either(world: World, private: Site) -> None:
    with pytest.raises(BadLocation):
        await by_api(world, "https://github.com/acre/docs", kind="github", api_url=private.url)
    await by_api(world, "https://github.com/acre/docs", kind="github", api_url=private.url, check=False)
    assert (await world.sync()).status is RunStatus.FAILED


async def test_the_operator_can_lift_it(world: World) -> None:
    allowing(world, allow_private=True)
    with Site({"/": html("Inside", "oats")}) as inside:
        await by_api(world, inside.url)
        assert (await world.sync()).counters.created == 1


# Variables


async def test_no_variable_of_the_operator_is_sent_to_a_server_of_somebody_elses_choice(
    world: World,
) -> None:
    world.secrets["DATABASE_PASSWORD"] = "kuckuck-4711"
    for setting in ("bearer", "cookie", "header.X-Key", "basic"):
        with pytest.raises(ConfigError, match=f"setting `{setting}`: the variable it refers to may not"):
            await by_api(world, world.site.url, check=False, **{setting: "${DATABASE_PASSWORD}:x"})
    assert world.site.requests == []


async def test_a_variable_that_the_operator_allows_is_sent(world: World) -> None:
    world.secrets["DOCS_TOKEN"] = "kuckuck-4711"
    allowing(world, allowed_variables=("DOCS_TOKEN",))
    await by_api(world, world.site.url, bearer="${DOCS_TOKEN}")
    allowing(world)
    assert (await world.sync()).status is RunStatus.FAILED, "and no longer when it is not allowed any more"
    assert world.site.requests == []


async def test_the_operators_github_token_is_not_used_for_others(tmp_path: Path) -> None:
    api = GitHubApi()
    api._host = PUBLIC
    api.repository("acre/docs", {"README.md": "# Farm\n"})
    with api:
        async with a_world(tmp_path, api) as world:
            world.secrets["GITHUB_TOKEN"] = "ghp_kuckuck4711"
            await by_api(world, "https://github.com/acre/docs", kind="github", api_url=api.url)
            assert (await world.sync()).counters.created == 1
            assert api.requests
            assert not [asked for asked in api.requests if "Authorization" in asked.headers]


# Folders and repositories of this machine


async def test_folders_of_this_machine_do_not_exist_for_others(world: World, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.md").write_text("# Secret\n")
    said = set()
    for location in (tmp_path / "inside", tmp_path / "not-there"):
        for check in (True, False):
            with pytest.raises(BadLocation) as caught:
                await by_api(world, str(location), check=check)
            said.add(caught.value.message.replace(str(location), ""))
    assert said == {"location ``: not there, or not below a folder that sources added by API may read"}
    assert "`rowen add` on the command line takes any folder" in (caught.value.hint or "")
    for location in ("file:///etc/passwd", "/etc/passwd", "../x", "~"):
        with pytest.raises(BadLocation):
            await by_api(world, location)


async def test_a_folder_below_an_allowed_root_is_read_as_long_as_it_stays_there(
    world: World, tmp_path: Path
) -> None:
    root, outside = tmp_path / "allowed", tmp_path / "outside"
    for folder in (root / "docs", outside):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(f"# {folder.name}\n")
    (root / "way-out").symlink_to(outside)
    (root / "circle").symlink_to(root / "circle")
    allowing(world, allowed_roots=(str(root),))
    for location in (root / "way-out", root / "circle", root / ".." / "outside", f"{root}-not"):
        with pytest.raises(BadLocation):
            await by_api(world, str(location))
    await by_api(world, str(root / "docs"))
    assert (await world.sync()).counters.created == 1
    (root / "docs" / "a.md").unlink()
    (root / "docs").rmdir()
    (root / "docs").symlink_to(outside)
    for place in (outside, root / "docs"):
        (root / "docs").unlink()
        (root / "docs").symlink_to(place)
        receipt = await world.sync()
        assert receipt.status is RunStatus.FAILED
        assert "not below a folder" in str(receipt.error)
    assert not await world.found("outside")


async def test_one_allowed_root_does_not_open_another_caller_of_the_same_folders(
    world: World, tmp_path: Path
) -> None:
    folders = world.ports.folders.within([str(tmp_path)])
    assert folders.locate(str(tmp_path)) == str(tmp_path)
    narrower = folders.within([str(tmp_path / "sub")])
    assert narrower.locate(str(tmp_path)) is None
    wider = folders.within(["/"])
    assert wider.locate("/etc") is None
    with pytest.raises(AddressRefused):
        await narrower.read(str(tmp_path), "a.md", max_bytes=10)


@pytest.mark.parametrize(
    "location",
    [
        "git+file://{folder}",
        "git+ssh://git@127.0.0.1/acre.git",
        "git@127.0.0.1:acre.git",
        "git+git://127.0.0.1/acre.git",
        "git+http://127.0.0.1:{port}/acre.git",
        "git+https://127.0.0.1:{port}/acre.git",
        "git+https://[::1]:{port}/acre.git",
        "https://localhost:{port}/acre.git",
    ],
)
async def test_repositories_of_this_machine_and_its_network_are_refused(
    world: World, private: Site, tmp_path: Path, location: str
) -> None:
    copy = WorkingCopy(tmp_path / "acre")
    copy.commit({"README.md": "# Secret\n"})
    address = location.format(folder=copy.folder, port=private.port)
    with pytest.raises(BadLocation, match="not asked"):
        await by_api(world, address, kind="git")
    await by_api(world, address, kind="git", check=False)
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "not asked" in str(receipt.error)


async def test_a_repository_below_an_allowed_root_is_read(world: World, tmp_path: Path) -> None:
    copy = WorkingCopy(tmp_path / "allowed" / "acre")
    copy.commit({"README.md": "# Farm\n"})
    with pytest.raises(BadLocation):
        await by_api(world, copy.address, kind="git")
    allowing(world, allowed_roots=(str(tmp_path / "allowed"),))
    await by_api(world, copy.address, kind="git")
    assert (await world.sync()).counters.created == 1


# Rendered pages


@in_a_browser
async def test_scripts_of_a_page_get_nothing_from_inside(tmp_path: Path) -> None:
    with (
        Site({"/": "kuckuck4711"}) as private,
        Site(host=PUBLIC) as public,
    ):
        private.set("/", "kuckuck4711", headers={"Access-Control-Allow-Origin": "*"})
        script = (
            f"fetch('{private.url}/').then(a => a.text(), () => 'nothing')"
            ".then(t => { document.getElementById('root').textContent = 'Got ' + t; });"
        )
        public.set("/", f"<html><body><main id=root>Empty</main><script>{script}</script></body></html>")
        async with a_world(tmp_path, public) as world:
            await by_api(world, public.url, kind="web", check=False, render="true")
            receipt: Receipt = await world.sync()
            assert receipt.counters.created == 1
            assert await world.found("nothing")
            assert private.requests == []


async def test_a_source_that_was_not_added_is_not_there(world: World, private: Site) -> None:
    with pytest.raises(BadLocation):
        await by_api(world, private.url)
    with pytest.raises(NotFound):
        await world.source()
