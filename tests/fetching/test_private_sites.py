"""Sites that let only some in: what is sent, to whom, and that it is seen nowhere else."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from rowen.core.run import RunStatus
from rowen.doors.cli import main
from rowen.doors.shapes import runs as shapes
from rowen.engine.ports import FetchSettings
from rowen.errors import BadLocation, ConfigError
from rowen.fetching import credentials
from rowen.managing import sources
from rowen.ports.fetcher import FetcherOptions, Request
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

SECRET = "kuckuck-4711"
ENCODED = b64encode(f"me:{SECRET}".encode()).decode()
WAYS: list[tuple[dict[str, str], str, str]] = [
    ({"header.X-Api-Key": "${DOCS_KEY}"}, "X-Api-Key", SECRET),
    ({"header.Authorization": "Token ${DOCS_KEY}"}, "Authorization", f"Token {SECRET}"),
    ({"cookie": "session=${DOCS_KEY}; lang=en"}, "Cookie", f"session={SECRET}; lang=en"),
    ({"basic": "${DOCS_USER}:${DOCS_KEY}"}, "Authorization", f"Basic {ENCODED}"),
    ({"bearer": "${DOCS_KEY}"}, "Authorization", f"Bearer {SECRET}"),
]


class PrivateSite(Site):
    """Lets in who sends the right header; robots.txt is for everybody."""

    def __init__(self, pages: Mapping[str, str | bytes | Page], name: str, value: str) -> None:
        super().__init__(pages)
        self.wanted = (name, value)
        self.status = 401

    def _response(self, request: web.BaseRequest, page: Page | None) -> web.Response:
        name, value = self.wanted
        if request.headers.get(name) != value and request.path != "/robots.txt":
            return web.Response(status=self.status, text="who are you?")
        return super()._response(request, page)


def pages() -> dict[str, str | bytes | Page]:
    return {
        "/": html("Home", "Welcome to barley.", links=["/a.html"]),
        "/a.html": a_page("/a.html", "oats"),
    }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with PrivateSite(pages(), "Authorization", f"Bearer {SECRET}") as site:
        async with a_world(tmp_path, site) as made:
            made.secrets |= {"DOCS_KEY": SECRET, "DOCS_USER": "me"}
            yield made


async def add(world: World, path: str = "/", kind: str | None = None, **settings: str) -> sources.Added:
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return await sources.add(world.ports, world.site.url + path, name="docs", kind=kind, settings=given)


def stored_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("kind", ["web", "llms"])
@pytest.mark.parametrize(("settings", "name", "value"), WAYS)
async def test_each_kind_of_credential_opens_the_site_and_is_stored_as_a_reference(
    tmp_path: Path,
    settings: dict[str, str],
    name: str,
    value: str,
    kind: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    content = pages() | {
        "/llms.txt": Page("# F\n\n- [A](/a.md)\n", content_type="text/plain"),
        "/a.md": Page("# A\n\noats\n", content_type="text/markdown"),
    }
    with PrivateSite(content, name, value) as site:
        async with a_world(tmp_path, site) as world:
            world.secrets |= {"DOCS_KEY": SECRET, "DOCS_USER": "me"}
            added = await sources.add(world.ports, site.url + "/", name="docs", kind=kind, settings=settings)
            first, second = await world.sync(), await world.sync()
            assert (first.status, first.counters.created) == (RunStatus.COMPLETED, 2)
            assert (second.counters.not_modified, second.counters.updated) == (2, 0)
            assert len(await world.found("oats")) == 1
            said = [
                repr(one) for one in (added, first, second, await world.store.runs(1, limit=9), world.events)
            ]
            said += [json.dumps(shapes.Receipt.show(one), default=str) for one in (first, second)]
            # With the write-ahead log beside it, and after it was folded in.
            assert any(path.name.endswith("-wal") for path in tmp_path.iterdir())
            said.append(stored_bytes(tmp_path).decode("latin-1"))
        shown = stored_bytes(tmp_path).decode("latin-1") + "".join(said) + caplog.text
        for secret in (SECRET, ENCODED):
            assert secret not in shown
        assert "${DOCS_KEY}" in shown


async def test_without_them_adding_says_which_settings_there_are(world: World) -> None:
    with pytest.raises(BadLocation, match="401 from the server") as caught:
        await add(world)
    for setting in ("bearer", "basic", "cookie", "header.NAME"):
        assert setting in (caught.value.hint or "")


async def test_a_value_is_refused_and_repeated_nowhere(world: World, tmp_path: Path) -> None:
    for settings in (
        {"bearer": SECRET},
        {"header__X-Key": SECRET},
        {"cookie": f"s={SECRET}"},
        {"basic": SECRET},
    ):
        with pytest.raises(ConfigError, match="expected a reference") as caught:
            await add(world, **settings)
        assert SECRET not in f"{caught.value!r} {caught.value.facts} {caught.value.__cause__!r}"
    assert world.site.requests == []
    assert SECRET.encode() not in stored_bytes(tmp_path)


async def test_a_variable_that_is_not_set_is_named_when_adding_and_when_syncing(world: World) -> None:
    await add(world, bearer="${DOCS_KEY}")
    world.secrets.clear()
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "variable `DOCS_KEY`: not set" in (receipt.error or "")
    assert world.site.requests == []
    with pytest.raises(ConfigError, match="variable `DOCS_KEY`"):
        await sources.add(world.ports, world.site.url, name="two", settings={"bearer": "${DOCS_KEY}"})


async def test_two_settings_for_one_header_are_a_contradiction(world: World) -> None:
    with pytest.raises(ConfigError, match="settings `basic` and `bearer`"):
        await add(world, bearer="${DOCS_KEY}", basic="${DOCS_USER}:${DOCS_KEY}")


async def test_another_reference_is_another_source(world: World) -> None:
    keys = set()
    for name, settings in (("a", {}), ("b", {"bearer": "${A}"}), ("c", {"bearer": "${B}"})):
        added = await sources.add(
            world.ports, "https://x.invalid/", name=name, settings=settings, check=False
        )
        keys.add(added.source.key.rpartition(":")[2])
    assert len(keys) == 3


async def test_another_host_does_not_get_them_by_link_or_redirect(world: World) -> None:
    with Site({"/x.html": html("Elsewhere"), "/y.html": html("Elsewhere")}) as elsewhere:
        # Another port is another origin. In the scope `domain` it is asked, and asked without them.
        fetch = FetchSettings(allow_private=True)
        world.ports = replace(world.ports, fetch=fetch)
        world.site.set("/a.html", redirect=f"{elsewhere.url}/x.html", status=302)
        world.site.set("/", html("Home", "x", links=["/a.html", f"{elsewhere.url}/y.html"]))
        await add(world, bearer="${DOCS_KEY}", scope="domain")
        receipt = await world.sync()
        assert receipt.counters.created == 3
        assert {one.path for one in elsewhere.requests} == {"/robots.txt", "/x.html", "/y.html"}
        told = [value for one in elsewhere.requests for value in one.headers.values()]
        assert not any(SECRET in value for value in told)


async def test_another_name_of_the_same_server_does_not_get_them(world: World) -> None:
    named = world.site.url.replace("127.0.0.1", "localhost")
    world.ports = replace(world.ports, fetch=FetchSettings(allow_private=True))
    async with world.ports.open_fetcher(
        FetcherOptions(
            typed_location=world.site.url,
            allow_private=True,
            credentials=credentials.resolve(world.ports.secrets, {"bearer": "${DOCS_KEY}"}, world.site.url),
        )
    ) as fetcher:
        assert (await fetcher.fetch(Request(world.site.url + "/"))).status == 200
        assert (await fetcher.fetch(Request(named + "/"))).status == 401
    assert ["Authorization" in one.headers for one in world.site.requests] == [True, False]


async def test_adding_an_address_that_redirects_to_another_host_does_not_carry_them_along(
    world: World,
) -> None:
    with Site({"/": html("Trap")}) as trap:
        world.site.set("/start", redirect=trap.url + "/", status=302)
        with pytest.raises(BadLocation, match="another host") as caught:
            await add(world, "/start", bearer="${DOCS_KEY}")
        assert trap.url in (caught.value.hint or "")
        assert trap.requests == []


@pytest.mark.parametrize("status", [401, 403])
async def test_a_root_that_lets_nobody_in_fails_the_run_and_asks_for_nothing_else(
    world: World, status: int
) -> None:
    await add(world, bearer="${DOCS_KEY}")
    await world.sync()
    world.secrets["DOCS_KEY"] = "expired"
    assert isinstance(world.site, PrivateSite)
    world.site.status = status
    receipt = await world.sync()
    assert (receipt.status, receipt.generation) == (RunStatus.FAILED, 1)
    assert f"{status} from the server" in (receipt.error or "")
    assert "`bearer`" in (receipt.hint or "")
    assert not world.site.asked_for("/a.html")
    assert await world.found("oats") == ["/a.html"]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_page_that_lets_nobody_in_is_a_failed_item_and_stays(world: World, status: int) -> None:
    await add(world, bearer="${DOCS_KEY}")
    await world.sync()
    world.site.set("/a.html", "no", status=status)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed, receipt.counters.deleted) == (RunStatus.PARTIAL, 1, 0)
    assert await world.found("oats") == ["/a.html"]


async def test_a_server_that_breaks_off_takes_no_secret_into_the_error(world: World) -> None:
    await add(world, bearer="${DOCS_KEY}")
    world.site.set("/", "", reset=True)
    receipt = await world.sync()
    items = await world.store.run_items(receipt.run_id)
    assert receipt.status is RunStatus.FAILED
    assert SECRET not in f"{receipt!r} {items!r}"


def test_the_command_line_says_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROWEN_DB", f"sqlite:///{tmp_path}/cli.db")
    monkeypatch.setenv("DOCS_KEY", SECRET)
    with PrivateSite(pages(), "X-Api-Key", SECRET) as site:

        def rowen(*arguments: str) -> str:
            code = main(list(arguments))
            said = capsys.readouterr()
            return f"{code} {said.out} {said.err}"

        setting = "header.X-Api-Key=${DOCS_KEY}"
        said = rowen("add", site.url, "--name", "docs", "--set", setting, "--json")
        assert said.startswith("0 "), said
        said += rowen("add", site.url, "--name", "bad", "--set", f"bearer={SECRET}")
        synced = rowen("sync", "docs", "--json")
        assert '"created":2' in synced.replace(" ", ""), synced
        monkeypatch.delenv("DOCS_KEY")
        failed = rowen("sync", "docs")
        assert failed.startswith("1 ")
        assert "DOCS_KEY" in failed
        said += synced + failed + rowen("status", "--json") + rowen("runs", "docs", "--json")
        assert SECRET not in said
        assert SECRET.encode() not in stored_bytes(tmp_path)


async def test_basic_wants_a_name_and_a_password(world: World) -> None:
    with pytest.raises(ConfigError, match="setting `basic`: expected a user name and a password") as caught:
        await add(world, basic="${DOCS_KEY}")
    assert SECRET not in repr(caught.value)


async def test_a_private_list_that_lets_nobody_in_says_which_settings_there_are(world: World) -> None:
    with pytest.raises(BadLocation, match=r"llms\.txt`: 401 from the server") as caught:
        await add(world, kind="llms")
    assert "bearer" in (caught.value.hint or "")


@pytest.mark.parametrize(("settings", "name", "value"), WAYS)
async def test_a_page_that_shows_its_visitor_the_key_does_not_bring_it_into_the_store(
    tmp_path: Path, settings: dict[str, str], name: str, value: str
) -> None:
    shown = {"/": html("Home", f"Your header was {value} and your key is {SECRET}; barley.")}
    with PrivateSite(shown, name, value) as site:
        async with a_world(tmp_path, site) as world:
            world.secrets |= {"DOCS_KEY": SECRET, "DOCS_USER": "me"}
            await sources.add(world.ports, site.url, name="docs", settings=settings)
            await world.sync()
            assert await world.found("barley") == ["/"]
    stored = stored_bytes(tmp_path)
    assert SECRET.encode() not in stored
    assert ENCODED.encode() not in stored
