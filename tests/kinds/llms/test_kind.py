"""The `llms` kind: the Markdown a site lists, its refresh, and when it is preferred."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.run import RunStatus
from rowen.errors import BadLocation, ConfigError
from rowen.managing import sources
from rowen.reading import history
from tests.support.site import Page, Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

LIST = """# Fields

> A site about grain.

## Docs

- [Oats](/oats.md): all about oats
- [Rye](/rye.md)

## Optional

- [Wheat](/wheat.txt): for the curious
"""


def md(text: str, **options: object) -> Page:
    return Page(text, content_type="text/markdown; charset=utf-8", **options)  # type: ignore[arg-type]


def pages() -> dict[str, str | bytes | Page]:
    return {
        "/": html("Home", "A web page about barley.", links=["/oats.html"]),
        "/llms.txt": Page(LIST, content_type="text/plain"),
        "/oats.md": md("# Oats\n\nOats like rain. See [deeper](/deep.md).\n"),
        "/rye.md": md("# Rye\n\nRye likes sand.\n"),
        "/wheat.txt": Page("Wheat\n\nWheat likes loam.\n", content_type="text/plain"),
        "/deep.md": md("# Deep\n\nDeep roots. See [deeper](/deeper.md).\n"),
        "/deeper.md": md("# Deeper\n\nToo deep.\n"),
    }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site(pages()) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def add(world: World, path: str = "/", kind: str | None = "llms", **settings: str) -> sources.Added:
    added = await sources.add(
        world.ports, world.site.url + path, name="docs", kind=kind, settings=dict(settings)
    )
    world.site.clear_log()
    return added


def asked(world: World) -> list[tuple[str, int]]:
    return sorted((one.path, one.status) for one in world.site.requests if one.path != "/robots.txt")


# what is harvested


async def test_the_list_and_the_markdown_it_leads_to_are_harvested_up_to_a_depth(world: World) -> None:
    added = await add(world)
    assert (added.source.kind, added.source.location) == ("llms", world.site.url + "/llms.txt")
    receipt = await world.sync()
    assert receipt.status is RunStatus.COMPLETED
    assert await world.pages() == {"/llms.txt", "/oats.md", "/rye.md", "/wheat.txt", "/deep.md"}
    assert await world.found("sand") == ["/rye.md"]
    assert not world.site.asked_for("/deeper.md"), "three links away"
    assert not world.site.asked_for("/sitemap.xml")
    assert receipt.counters.ignored["too_deep"] == 1


async def test_max_depth_one_stays_with_the_list(world: World) -> None:
    await add(world, max_depth="1")
    await world.sync()
    assert "/deep.md" not in await world.pages()


async def test_a_page_knows_what_the_list_says_of_it(world: World) -> None:
    source = (await add(world)).source
    await world.sync()
    metadata = await world.store.metadata(source.id)
    of = {url.removeprefix(world.site.url): said for url, said in metadata.items()}
    assert of["/oats.md"] == {"section": "Docs", "note": "all about oats"}
    assert of["/rye.md"] == {"section": "Docs"}
    assert of["/wheat.txt"] == {"section": "Optional", "note": "for the curious", "optional": True}
    assert of["/deep.md"] == of["/llms.txt"] == {}


async def test_other_types_are_noted_and_their_bodies_are_not_read(world: World) -> None:
    world.site.set(
        "/llms.txt", LIST + "- [A](/guide)\n- [B](/b.html)\n- [C](/c.pdf)\n", content_type="text/plain"
    )
    world.site.set("/guide", html("Guide", "x" * 5_000_000))
    await add(world)
    receipt = await world.sync()
    assert receipt.counters.ignored["not_markdown"] == 3
    assert len(world.site.asked_for("/guide")) == 1
    assert world.site.asked_for("/guide")[0].headers["Accept"].startswith("text/markdown")
    assert not world.site.asked_for("/b.html"), "its name says what it is"
    assert receipt.counters.bytes_received < 1_000_000
    assert receipt.status is RunStatus.COMPLETED


async def test_the_twin_of_a_page_is_taken_only_when_the_list_names_it(world: World) -> None:
    listed = "# F\n\n- [A](/a)\n- [A](/a.md)\n- [B](/b)\n"
    world.site.set("/llms.txt", listed, content_type="text/plain")
    for path in ("/a", "/a.md", "/b", "/b.md"):
        world.site.set(path, f"# {path}\n", content_type="text/markdown")
    await add(world)
    receipt = await world.sync()
    assert await world.pages() == {"/llms.txt", "/a.md", "/b"}
    assert not world.site.asked_for("/a")
    assert not world.site.asked_for("/b.md")
    assert receipt.counters.ignored["has_markdown_twin"] == 1


async def test_other_sites_are_left_alone(world: World, tmp_path: Path) -> None:
    with Site({"/x.md": md("# X\n")}) as elsewhere:
        world.site.set("/llms.txt", LIST + f"- [X]({elsewhere.url}/x.md)\n", content_type="text/plain")
        await add(world)
        receipt = await world.sync()
        assert elsewhere.requests == []
        assert receipt.counters.ignored["out_of_scope"] == 1


async def test_robots_txt_is_kept_to(world: World) -> None:
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /rye\n", content_type="text/plain")
    await add(world)
    await world.sync()
    assert not world.site.asked_for("/rye.md")


# the second harvest


async def test_304_an_unchanged_site_costs_one_conditional_request_a_page_and_no_row(world: World) -> None:
    await add(world)
    await world.sync()
    rows = world.store.rows_written()
    receipt = await world.sync()
    assert asked(world) == [
        ("/deep.md", 304),
        ("/llms.txt", 304),
        ("/oats.md", 304),
        ("/rye.md", 304),
        ("/wheat.txt", 304),
    ]
    assert (receipt.counters.not_modified, receipt.counters.parses, receipt.generation) == (5, 0, 1)
    assert world.store.rows_written() - rows <= 9


async def test_200_a_changed_page_is_one_update_and_keeps_what_the_list_says(world: World) -> None:
    source = (await add(world)).source
    await world.sync()
    world.site.set(
        "/oats.md", "# Oats\n\nOats like fog. See [deeper](/deep.md).\n", content_type="text/markdown"
    )
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.not_modified, receipt.counters.requests) == (1, 4, 5)
    assert await world.found("fog") == ["/oats.md"]
    metadata = await world.store.metadata(source.id)
    assert metadata[world.site.url + "/oats.md"]["note"] == "all about oats"


async def test_404_a_removed_page_is_gone(world: World) -> None:
    await add(world)
    await world.sync()
    world.site.set("/rye.md", "no", status=404)
    receipt = await world.sync()
    assert (receipt.counters.deleted, receipt.counters.requests) == (1, 5)
    assert await world.found("sand") == []


async def test_new_a_page_added_to_the_list_is_found(world: World) -> None:
    await add(world)
    await world.sync()
    world.site.set("/new.md", "# New\n\nSpelt.\n", content_type="text/markdown")
    world.site.set(
        "/llms.txt", LIST.replace("- [Rye]", "- [New](/new.md): fresh\n- [Rye]"), content_type="text/plain"
    )
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.updated) == (1, 1), "the page, and the list itself"
    assert (receipt.counters.not_modified, receipt.counters.requests) == (4, 6)
    assert await world.found("spelt") == ["/new.md"]


async def test_error_a_page_that_fails_stays(world: World) -> None:
    await add(world)
    await world.sync()
    world.site.set("/oats.md", "oops", status=500)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed, receipt.counters.deleted) == (RunStatus.PARTIAL, 1, 0)
    assert await world.found("rain") == ["/oats.md"]
    assert await world.found("roots") == ["/deep.md"], "only linked from the page that failed"
    assert len(world.site.asked_for("/oats.md")) == 4


async def test_a_page_taken_off_the_list_is_dropped(world: World) -> None:
    await add(world)
    await world.sync()
    world.site.set("/llms.txt", LIST.replace("- [Rye](/rye.md)\n", ""), content_type="text/plain")
    receipt = await world.sync()
    assert receipt.counters.deleted == 1
    assert "/rye.md" not in await world.pages()


async def test_a_new_note_is_a_new_version_of_the_same_text(world: World) -> None:
    source = (await add(world)).source
    await world.sync()
    world.site.set("/llms.txt", LIST.replace("all about oats", "oats and more"), content_type="text/plain")
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.updated, counters.metadata_updated) == (1, 1), "the list, and the page it speaks of"
    assert not world.site.asked_for("/oats.md")[0].conditional, "its body is needed"
    metadata = await world.store.metadata(source.id)
    assert metadata[world.site.url + "/oats.md"]["note"] == "oats and more"
    again = await world.sync()
    assert (again.counters.updated, again.counters.not_modified) == (0, 5)


async def test_a_new_note_of_a_page_that_fails_is_not_forgotten(world: World) -> None:
    source = (await add(world)).source
    await world.sync()
    world.site.set("/llms.txt", LIST.replace("all about oats", "oats and more"), content_type="text/plain")
    body = world.site.pages["/oats.md"].body
    world.site.set("/oats.md", "oops", status=503)
    await world.sync()
    world.site.set("/oats.md", body, content_type="text/markdown; charset=utf-8")
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.metadata_updated) == (0, 1)
    assert (await world.store.metadata(source.id))[world.site.url + "/oats.md"]["note"] == "oats and more"


async def test_after_a_rollback_the_list_is_read_again(world: World) -> None:
    source = (await add(world)).source
    await world.sync()
    before = world.site.pages["/llms.txt"]
    world.site.set("/llms.txt", LIST.replace("all about oats", "oats and more"), content_type="text/plain")
    await world.sync()
    await history.rollback(world.ports, await world.source())
    world.site.set("/llms.txt", before.body, content_type="text/plain")
    receipt = await world.sync()
    assert receipt.counters.updated == 0
    assert (await world.store.metadata(source.id))[world.site.url + "/oats.md"]["note"] == "all about oats"


@pytest.mark.parametrize(
    "answer",
    [
        Page("no", status=404),
        Page(html("Home", "every address gets this page")),
        Page("", content_type="text/plain"),
        Page("Not found", content_type="text/plain"),
    ],
)
async def test_a_list_that_vanished_wipes_nothing(world: World, answer: Page) -> None:
    await add(world)
    await world.sync()
    world.site.pages["/llms.txt"] = answer
    receipt = await world.sync()
    # An empty body is no word at all; anything else is a list that would take everything away.
    assert receipt.status is (RunStatus.PARTIAL if answer.body == "" else RunStatus.HELD)
    assert len(await world.pages()) == 5


async def test_a_list_that_fails_leaves_the_pages_and_what_it_said_of_them(world: World) -> None:
    source = (await add(world)).source
    await world.sync()
    world.site.set("/llms.txt", "oops", status=500)
    world.site.set("/rye.md", "# Rye\n\nRye likes gravel.\n", content_type="text/markdown")
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.updated, receipt.counters.deleted) == (RunStatus.PARTIAL, 1, 0)
    assert (await world.store.metadata(source.id))[world.site.url + "/rye.md"] == {"section": "Docs"}


async def test_a_list_that_moved_is_followed(world: World) -> None:
    await add(world)
    await world.sync()
    world.site.set("/docs/llms.txt", LIST, content_type="text/plain")
    world.site.set("/llms.txt", redirect="/docs/llms.txt", status=301)
    for _ in range(2):
        receipt = await world.sync()
        assert receipt.status is RunStatus.COMPLETED
        assert await world.pages() == {"/docs/llms.txt", "/oats.md", "/rye.md", "/wheat.txt", "/deep.md"}
    assert receipt.counters.not_modified == 5


# llms-full.txt

FULL = """# Oats
Source: {url}/oats

Oats like rain.

# Rye
Source: {url}/rye

Rye likes sand.
"""


async def a_full_source(world: World) -> str:
    text = FULL.format(url=world.site.url)
    world.site.set("/llms-full.txt", text, content_type="text/plain")
    added = await add(world, full="true")
    assert added.source.location == world.site.url + "/llms-full.txt"
    assert "2 documents" in added.findings[0]
    return text


async def test_the_whole_file_is_one_request_and_as_many_documents_as_it_has(world: World) -> None:
    await a_full_source(world)
    receipt = await world.sync()
    assert (receipt.counters.created, asked(world)) == (2, [("/llms-full.txt", 200)])
    assert await world.found("sand") == ["/rye"]


async def test_304_an_unchanged_file_costs_one_small_request(world: World) -> None:
    await a_full_source(world)
    await world.sync()
    receipt = await world.sync()
    assert asked(world) == [("/llms-full.txt", 304)]
    assert (receipt.counters.not_modified, receipt.counters.bytes_received) == (2, 0)
    assert receipt.generation == 1


async def test_200_a_changed_document_in_the_file_is_one_update(world: World) -> None:
    text = await a_full_source(world)
    await world.sync()
    text = text.replace("sand", "gravel") + f"\n# New\nSource: {world.site.url}/new\n\nSpelt.\n"
    world.site.set("/llms-full.txt", text, content_type="text/plain")
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.updated, counters.created, counters.unchanged, counters.parses) == (1, 1, 1, 2)
    world.site.set("/llms-full.txt", text.partition("# Rye")[0], content_type="text/plain")
    receipt = await world.sync()
    assert receipt.counters.deleted == 2
    assert await world.found("rain") == ["/oats"]


@pytest.mark.parametrize(
    "answer",
    [
        Page("no", status=404),
        Page("no", status=500),
        Page("no", status=403),
        Page(html("x")),
        Page(" ", content_type="text/plain"),
    ],
)
async def test_error_a_file_that_cannot_be_had_deletes_nothing(world: World, answer: Page) -> None:
    await a_full_source(world)
    await world.sync()
    world.site.pages["/llms-full.txt"] = answer
    receipt = await world.sync()
    assert (receipt.status, receipt.generation) == (RunStatus.FAILED, 1)
    assert await world.pages() == {"/oats", "/rye"}
    assert ("bearer" in (receipt.hint or "")) is (answer.status == 403)


async def test_a_file_that_robots_txt_forbids_is_not_asked_for(world: World) -> None:
    await a_full_source(world)
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /llms-full.txt\n", content_type="text/plain")
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert asked(world) == []


async def test_after_a_rollback_the_file_is_read_again(world: World) -> None:
    text = await a_full_source(world)
    await world.sync()
    world.site.set("/llms-full.txt", text.replace("sand", "gravel"), content_type="text/plain")
    await world.sync()
    await history.rollback(world.ports, await world.source())
    receipt = await world.sync()
    assert receipt.counters.updated == 1
    assert await world.found("gravel") == ["/rye"]


async def test_limits_and_patterns_hold_in_the_file_too(world: World) -> None:
    world.site.set("/llms-full.txt", FULL.format(url=world.site.url), content_type="text/plain")
    await add(world, full="true", exclude="/oats")
    receipt = await world.sync()
    assert await world.pages() == {"/rye"}
    assert receipt.counters.ignored["excluded"] == 1


# adding


async def test_a_site_that_lists_its_markdown_is_taken_by_its_list_and_is_told_why(world: World) -> None:
    added = await add(world, kind=None)
    assert (added.source.kind, added.source.location) == ("llms", world.site.url + "/llms.txt")
    said = "\n".join(added.findings)
    for word in ("lists 3 pages in 2 sections", "kind `llms`", "`--kind web`", "ETag"):
        assert word in said


async def test_kind_web_overrides(world: World) -> None:
    added = await add(world, kind="web")
    assert added.source.kind == "web", "what was asked for"
    assert added.source.location == world.site.url + "/"


async def test_a_setting_that_only_a_crawl_knows_means_a_crawl(world: World) -> None:
    assert (await add(world, kind=None, sitemap="false")).source.kind == "web"


@pytest.mark.parametrize(
    "answer",
    [
        Page(html("Home", "[a](b.md)")),
        Page("# Title without links", content_type="text/plain"),
        Page("Not found", content_type="text/plain"),
        Page("<html># x [a](b.md)", content_type="text/plain"),
        Page("no", status=500),
        Page(reset=True),
        Page(LIST, content_type="application/json"),
    ],
)
async def test_what_only_answers_like_a_list_is_none(world: World, answer: Page) -> None:
    world.site.pages["/llms.txt"] = answer
    assert (await add(world, kind=None)).source.kind == "web"


async def test_a_list_of_web_pages_is_no_reason_to_leave_the_site_alone(world: World) -> None:
    world.site.set("/llms.txt", "# F\n\n- [A](/a.html)\n- [B](/b)\n", content_type="text/plain")
    world.site.set("/b", html("B"))
    added = await add(world, kind=None)
    assert added.source.kind == "web"
    assert "leads to no Markdown" in added.findings[0]


async def test_a_list_with_names_that_say_nothing_is_tried(world: World) -> None:
    world.site.set("/llms.txt", "# F\n\n- [B](/b)\n", content_type="text/plain")
    world.site.set("/b", "# B\n", content_type="text/markdown")
    assert (await add(world, kind=None)).source.kind == "llms"


async def test_the_address_of_the_file_is_enough(world: World) -> None:
    assert (await add(world, "/llms.txt", kind=None)).source.kind == "llms"


@pytest.mark.parametrize(
    ("path", "tried"), [("/", ("/llms.txt", "/llms-full.txt")), ("/docs/", ("/docs/llms.txt", "/llms.txt"))]
)
async def test_a_site_without_the_file_says_where_it_was_looked_for(
    world: World, path: str, tried: tuple[str, str]
) -> None:
    del world.site.pages["/llms.txt"]
    with pytest.raises(BadLocation) as caught:
        await add(world, path)
    for place in tried:
        assert f"`{world.site.url}{place}` (404 from the server)" in caught.value.message
    assert "--kind web" in (caught.value.hint or "")
    assert await world.store.sources() == []


async def test_a_site_with_the_other_file_only_gets_a_hint(world: World) -> None:
    del world.site.pages["/llms.txt"]
    world.site.set("/llms-full.txt", "# All\n\n[x](y)", content_type="text/plain")
    with pytest.raises(BadLocation) as caught:
        await add(world)
    assert "full=true" in (caught.value.hint or "")


async def test_without_a_check_the_usual_place_is_assumed(world: World) -> None:
    added = await sources.add(
        world.ports, "https://nobody.invalid/docs/", name="docs", kind="llms", check=False
    )
    assert added.source.location == "https://nobody.invalid/docs/llms.txt"


async def test_settings_are_those_of_the_kind(world: World) -> None:
    with pytest.raises(ConfigError, match="setting `sitemap`"):
        await add(world, sitemap="false")
    assert world.site.requests == []


async def test_what_became_of_pages_is_written_down(world: World) -> None:
    await add(world)
    await world.sync()
    world.site.set("/rye.md", html("Rye"))
    receipt = await world.sync()
    items = await world.store.run_items(receipt.run_id)
    assert ("not_markdown", Outcome.DELETED) in [(item.reason, item.outcome) for item in items]
