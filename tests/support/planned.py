"""One source of each kind, and what tests change at it: for plans, which must match the sync that follows.

async with CASES["files"](tmp_path) as case:
    case.change(1)
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rowen.core.source import Source
from rowen.kinds.crawl.judging.rules import MIN_PAGES
from rowen.managing import sources
from tests.support.board_server import ApiServer, Greenhouse, a_greenhouse_job, an_item, stamp
from tests.support.ckan_server import CkanServer, a_dataset, datasets
from tests.support.git_repository import WorkingCopy
from tests.support.github_api import GitHubApi
from tests.support.site import Page, Site
from tests.support.world import World, a_page, a_site_of, a_world

NOW = datetime(2024, 1, 1, tzinfo=UTC)
"""Where the clock of a world begins."""


@dataclass
class Case:
    world: World
    change: Callable[[int], None]
    """Edits, adds and removes something, otherwise for each number from 1."""
    name: str = "docs"
    deletes: bool = True
    """A run finds out what is gone."""

    async def source(self) -> Source:
        return await self.world.source(self.name)


Open = Callable[[Path], AbstractAsyncContextManager[Case]]


async def _added(world: World, location: str, kind: str | None, **settings: str) -> None:
    await sources.add(world.ports, location, name="docs", kind=kind, settings=settings, check=False)
    world.site.clear_log()


@asynccontextmanager
async def web(folder: Path) -> AsyncIterator[Case]:
    with a_site_of(12) as site:
        async with a_world(folder, site) as world:
            await world.add()

            def change(number: int) -> None:
                site.set(f"/p{number}.html", a_page(f"/p{number}.html", f"edited {number}"))
                links = [f"/p{one}.html" for one in range(1, 12 + number) if one != 11 - number]
                site.set("/", a_page("/", f"home {number}", links=links))
                site.set(f"/p{11 + number}.html", a_page(f"/p{11 + number}.html", "fresh"))
                site.remove(f"/p{11 - number}.html")

            yield Case(world, change)


@asynccontextmanager
async def web_without_validators(folder: Path) -> AsyncIterator[Case]:
    with a_site_of(6) as site:
        for path, page in list(site.pages.items()):
            site.set(path, page.body, etag=False)
        async with a_world(folder, site) as world:
            await world.add()

            def change(number: int) -> None:
                site.set(f"/p{number}.html", a_page(f"/p{number}.html", f"edited {number}"), etag=False)

            yield Case(world, change)


@asynccontextmanager
async def web_with_wrapping(folder: Path) -> AsyncIterator[Case]:
    """Pages that share a part which is learnt and taken away at the end of a run."""
    paths = [f"/p{number}.html" for number in range(MIN_PAGES + 4)]

    def page(name: str, own: str = "") -> str:
        shared = (
            '<ul><li><a href="/">Start of barley</a></li><li><a href="/p1.html">All orchards</a></li></ul>'
        )
        about = f"<p>What there is to know about {name.strip('/')}.</p>"
        return f"<title>{name}</title><body><div><h1>{name}</h1><div>{shared}</div>{about}{own}</div></body>"

    links = "".join(f'<a href="{path}">{path}</a> ' for path in paths)
    pages: dict[str, str | bytes | Page] = {path: page(path) for path in paths}
    with Site({"/": page("Home", f"<p>{links}</p>"), **pages}) as site:
        async with a_world(folder, site) as world:
            await world.add()

            def change(number: int) -> None:
                site.set(f"/p{number}.html", page(f"/p{number}.html", f"<p>Edited {number}.</p>"))

            yield Case(world, change, deletes=False)


@asynccontextmanager
async def llms(folder: Path) -> AsyncIterator[Case]:
    def md(text: str) -> Page:
        return Page(text, content_type="text/markdown; charset=utf-8")

    def listed(*names: str) -> Page:
        entries = "\n".join(f"- [{name}](/{name}.md)" for name in names)
        return Page(f"# Fields\n\n## Docs\n\n{entries}\n", content_type="text/plain")

    grains = ("oats", "rye", "wheat", "spelt")
    pages: dict[str, str | bytes | Page] = {"/llms.txt": listed(*grains)}
    pages |= {f"/{name}.md": md(f"# {name}\n\nAbout {name}.\n") for name in grains}
    with Site(pages) as site:
        async with a_world(folder, site) as world:
            await _added(world, site.url + "/llms.txt", "llms")

            def change(number: int) -> None:
                site.set("/oats.md", md(f"# oats\n\nEdited {number}.\n").body, content_type="text/markdown")
                names = (*grains[: 4 - number], f"millet{number}")
                site.set("/llms.txt", listed(*names).body, content_type="text/plain")
                site.set(
                    f"/millet{number}.md", f"# millet {number}\n\nSmall.\n", content_type="text/markdown"
                )

            yield Case(world, change)


@asynccontextmanager
async def files(folder: Path) -> AsyncIterator[Case]:
    root = folder / "notes"
    root.mkdir()
    tick = 1_600_000_000

    def write(name: str, text: str) -> None:
        nonlocal tick
        tick += 1
        (root / name).write_text(text)
        os.utime(root / name, (tick, tick))

    for number in range(6):
        write(f"n{number}.md", f"# Note {number}\n\nText {number}.\n")
    with Site() as site:
        async with a_world(folder, site) as world:
            await _added(world, str(root), "files")

            def change(number: int) -> None:
                write(f"n{number}.md", f"# Note {number}\n\nEdited {number}.\n")
                write(f"new{number}.md", f"# New {number}\n\nFresh.\n")
                (root / f"n{5 - number}.md").unlink(missing_ok=True)

            yield Case(world, change)


@asynccontextmanager
async def git(folder: Path) -> AsyncIterator[Case]:
    copy = WorkingCopy(folder / "acre")
    copy.commit({f"docs/n{one}.md": f"# Note {one}\n\nText {one}.\n" for one in range(6)})
    with Site() as site:
        async with a_world(folder, site) as world:
            await _added(world, str(copy.folder), "git")

            def change(number: int) -> None:
                copy.commit(
                    {f"docs/n{number}.md": f"# Edited {number}\n", f"docs/new{number}.md": "# Fresh\n"},
                    remove=(f"docs/n{5 - number}.md",),
                )

            yield Case(world, change)


@asynccontextmanager
async def github(folder: Path) -> AsyncIterator[Case]:
    api = GitHubApi()
    repository = api.repository(
        "acre/docs", {f"n{one}.md": f"# Note {one}\n\nText {one}.\n" for one in range(6)}
    )
    with api:
        async with a_world(folder, api) as world:
            await _added(world, "https://github.com/acre/docs", "github", api_url=api.url)

            def change(number: int) -> None:
                repository.write(f"n{number}.md", f"# Note {number}\n\nEdited {number}.\n")
                repository.write(f"new{number}.md", "# Fresh\n")
                repository.delete(f"n{5 - number}.md")

            yield Case(world, change)


@asynccontextmanager
async def ckan(folder: Path) -> AsyncIterator[Case]:
    with CkanServer(datasets(30)) as portal:
        async with a_world(folder, portal) as world:
            await _added(world, portal.portal, "ckan")

            def change(number: int) -> None:
                ids = portal.ids()
                portal.edit(ids[number], modified=NOW + timedelta(hours=number), notes=f"Edited {number}")
                portal.put(a_dataset(100 + number, metadata_modified=stamp(NOW + timedelta(hours=number))))
                portal.remove(ids[-number])

            yield Case(world, change, deletes=False)


@asynccontextmanager
async def rest(folder: Path) -> AsyncIterator[Case]:
    with ApiServer([an_item(number) for number in range(30)]) as api:
        async with a_world(folder, api) as world:
            given = {
                "path": "/items",
                "items": "items",
                "total": "total",
                "paging": "page",
                "page_size": "10",
            }
            given |= {"param.page": "{page}", "param.limit": "{limit}"}
            await _added(world, api.url, "rest", **given)

            def change(number: int) -> None:
                rows = api.rows
                api.edit(rows[number]["id"], body=f"Edited {number}", title=f"Edited {number}")
                api.put(an_item(100 + number))
                api.remove(rows[20 + number]["id"])

            yield Case(world, change)


@asynccontextmanager
async def rest_by_date(folder: Path) -> AsyncIterator[Case]:
    """Two days of history behind the newest, each a part of its own."""

    def item(number: int, hours: int) -> dict[str, Any]:
        return an_item(number, updated=stamp(NOW - timedelta(hours=hours)))

    with ApiServer([item(one, one) for one in range(1, 70, 4)]) as api:
        async with a_world(folder, api) as world:
            given = {
                "path": "/items", "items": "items", "updated": "updated", "total": "total", "window": "date",
                "paging": "page", "page_size": "10", "param.page": "{page}", "param.limit": "{limit}",
                "param.since": "{since}", "param.until": "{until}", "seed_days": "3", "seed_windows": "3",
            }  # fmt: skip
            await _added(world, api.url, "rest", **given)

            def change(number: int) -> None:
                world.clock.advance(3600)
                now = stamp(world.clock.now() - timedelta(minutes=5))
                api.put(an_item(200 + number, updated=now))
                api.edit(api.rows[number]["id"], updated=now, title=f"Edited {number}")

            yield Case(world, change, deletes=False)


@asynccontextmanager
async def job_board(folder: Path) -> AsyncIterator[Case]:
    with Greenhouse(a_greenhouse_job(number) for number in range(12)) as api:
        async with a_world(folder, api) as world:
            await _added(world, api.url + "/v1/boards/acme", "greenhouse")

            def change(number: int) -> None:
                rows = api.rows
                api.edit(rows[number]["id"], title=f"Baker {number}", content="Edited")
                api.put(a_greenhouse_job(100 + number))
                api.remove(rows[8 + number]["id"])

            yield Case(world, change)


CASES: dict[str, Open] = {
    "ckan": ckan,
    "files": files,
    "git": git,
    "github": github,
    "job_board": job_board,
    "llms": llms,
    "rest": rest,
    "rest_by_date": rest_by_date,
    "web": web,
    "web_with_wrapping": web_with_wrapping,
    "web_without_validators": web_without_validators,
}
