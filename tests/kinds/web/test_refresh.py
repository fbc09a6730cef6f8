"""The second harvest: what it costs when nothing changed, and what it finds when something did."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.run import RunStatus, StopReason
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {
        "/": html("Home", "Welcome to barley.", links=["/a.html", "/b.html"]),
        "/a.html": a_page("/a.html", "oats", links=["/", "/c.html"]),
        "/b.html": a_page("/b.html", "rye"),
        "/c.html": a_page("/c.html", "wheat"),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            yield made


async def test_the_first_harvest_finds_every_linked_page(world: World) -> None:
    receipt = await world.sync()
    assert (receipt.status, receipt.generation) == (RunStatus.COMPLETED, 1)
    assert receipt.counters.created == 4
    assert await world.pages() == {"/", "/a.html", "/b.html", "/c.html"}
    assert await world.found("wheat") == ["/c.html"]


@pytest.mark.parametrize("pages", [20, pytest.param(2000, marks=pytest.mark.torture)])
async def test_an_unchanged_site_costs_one_conditional_request_a_page_and_a_constant_number_of_rows(
    tmp_path: Path, pages: int
) -> None:
    with a_site_of(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            embedded, rows = len(world.embedder.embedded), world.store.rows_written()

            receipt = await world.sync()

            assert len(site.requests) == pages
            assert all(one.conditional and one.status == 304 for one in site.requests)
            assert receipt.counters.not_modified == receipt.counters.unchanged == pages
            assert (receipt.counters.parses, receipt.counters.bytes_received) == (0, 0)
            assert len(world.embedder.embedded) == embedded
            assert world.store.rows_written() - rows <= 9, "the same for 20 pages and for 2,000"
            assert receipt.generation == 1


async def test_an_edited_paragraph_costs_one_document_and_at_most_three_embeddings(
    tmp_path: Path,
) -> None:
    paragraphs = [f"Paragraph {n} speaks of field {n} and of nothing else. " * 6 for n in range(60)]
    with Site({"/": html("Long", *paragraphs)}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            first = await world.sync()
            assert first.counters.embeddings_computed > 10
            paragraphs[30] = "This one was rewritten by somebody who knows about turnips."
            site.set("/", html("Long", *paragraphs))

            receipt = await world.sync()

            assert (receipt.counters.updated, receipt.generation) == (1, 2)
            assert 1 <= receipt.counters.embeddings_computed <= 3
            assert receipt.counters.embeddings_reused == receipt.counters.passages_reused
            assert receipt.counters.embeddings_reused >= first.counters.embeddings_computed - 3
            assert await world.found("turnips") == ["/"]
            assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_a_new_page_linked_from_a_changed_page_is_found(world: World) -> None:
    await world.sync()
    world.site.set("/new.html", a_page("/new.html", "spelt"))
    world.site.set("/b.html", a_page("/b.html", "rye", links=["/", "/new.html"]))
    receipt = await world.sync()
    assert receipt.counters.created == 1
    assert await world.found("spelt") == ["/new.html"]


async def test_a_new_page_linked_only_in_the_navigation_of_a_page_with_the_same_text_is_found(
    world: World,
) -> None:
    await world.sync()
    world.site.set("/new.html", a_page("/new.html", "spelt"))
    body = a_page("/b.html", "rye").replace("</nav>", '<a href="/new.html">new</a></nav>')
    world.site.set("/b.html", body)
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.updated) == (1, 0)
    assert receipt.counters.same_content == 1
    await world.sync()
    assert "/new.html" in await world.pages(), "its link is remembered although its text did not change"


async def test_a_new_page_that_no_answer_mentions_is_not_invented(world: World) -> None:
    await world.sync()
    world.site.set("/hidden.html", a_page("/hidden.html", "spelt"))
    receipt = await world.sync()
    assert receipt.counters.created == 0
    assert not world.site.asked_for("/hidden.html")


@pytest.mark.parametrize("status", [404, 410])
async def test_a_removed_page_is_gone_from_search_in_the_same_generation(world: World, status: int) -> None:
    await world.sync()
    world.site.set("/c.html", "gone", status=status)
    receipt = await world.sync()
    assert (receipt.counters.deleted, receipt.generation) == (1, 2)
    assert await world.found("wheat") == []
    deleted = [event for event in world.events if event.deleted]
    assert [(event.outcome, event.reason) for event in deleted] == [(Outcome.DELETED, f"http_{status}")]


async def test_a_page_nothing_links_to_any_more_is_dropped(world: World) -> None:
    await world.sync()
    world.site.set("/a.html", a_page("/a.html", "oats", links=["/"]))
    receipt = await world.sync()
    assert receipt.counters.deleted == 1
    assert await world.found("wheat") == []
    items = await world.store.run_items(receipt.run_id)
    assert ("orphaned", Outcome.DELETED) in [(item.reason, item.outcome) for item in items]


async def test_orphans_are_kept_on_request(tmp_path: Path) -> None:
    pages = {"/": html("Home", "x", links=["/a.html"]), "/a.html": a_page("/a.html", "oats")}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(orphans="keep")
            await world.sync()
            site.set("/", html("Home", "x changed"))
            await world.sync()
            assert await world.pages() == {"/", "/a.html"}


async def test_a_page_that_answers_500_stays_searchable_and_its_links_count(world: World) -> None:
    await world.sync()
    world.site.set("/a.html", "oops", status=500)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed, receipt.counters.deleted) == (RunStatus.PARTIAL, 1, 0)
    assert await world.found("oats") == ["/a.html"]
    assert await world.found("wheat") == ["/c.html"], "only linked from the page that failed"
    assert len(world.site.asked_for("/a.html")) == 4, "asked once and retried three times"
    assert world.clock.waits == [0.5, 1.0, 2.0]


async def test_nothing_is_orphaned_while_a_new_page_that_may_link_to_it_fails(world: World) -> None:
    await world.sync()
    world.site.set("/a.html", a_page("/a.html", "oats", links=["/", "/moved.html"]))
    world.site.set("/moved.html", "oops", status=503)
    for _ in range(2):
        receipt = await world.sync()
        assert receipt.counters.deleted == 0
        assert receipt.counters.ignored["unlinked_but_kept"] == 1
        assert await world.found("wheat") == ["/c.html"]


async def test_pages_behind_a_root_that_wants_a_login_were_not_reached_and_are_not_called_unlinked(
    world: World,
) -> None:
    await world.sync()
    known = len(await world.pages())
    login = "<form method=post><h1>Sign in</h1><input name=user><input type=password name=p></form>"
    world.site.set("/", f"<html><title>Sign in</title><body>{login}</body></html>")
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "unlinked_but_kept" not in receipt.counters.ignored
    assert receipt.counters.kept == f"{known - 1} that were not reached"


@pytest.mark.parametrize("status", [404, 500])
@pytest.mark.parametrize("pages", [4, 40])
async def test_a_site_that_has_a_bad_hour_loses_nothing(tmp_path: Path, status: int, pages: int) -> None:
    with a_site_of(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.everything_answers(status)
            for _ in range(2):
                receipt = await world.sync()
                assert receipt.status is (RunStatus.HELD if status == 404 else RunStatus.FAILED)
                assert receipt.generation == 1
                assert len(await world.found("harvest")) == pages
            site.everything_answers(None)
            receipt = await world.sync()
            assert (receipt.status, receipt.counters.unchanged) == (RunStatus.COMPLETED, pages)


async def test_an_outage_stops_the_run_before_every_page_was_tried(tmp_path: Path) -> None:
    with a_site_of(200) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.everything_answers(500)
            receipt = await world.sync()
            assert receipt.status is RunStatus.FAILED
            assert receipt.stop_reason == StopReason.HOST_UNAVAILABLE
            assert receipt.counters.requests < 60


async def test_a_redeploy_that_changes_every_etag_writes_validators_only(world: World) -> None:
    await world.sync()
    for path, page in list(world.site.pages.items()):
        world.site.set(
            path, page.body, etag=f'"redeployed-{path}"', last_modified="Thu, 02 Mar 2023 10:00:00 GMT"
        )
    rows = world.store.rows_written()
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.updated, counters.embeddings_computed, counters.passages_new) == (0, 0, 0)
    assert (counters.validators_refreshed, counters.parses, receipt.generation) == (4, 0, 1)
    assert world.store.rows_written() - rows <= 4 + 9
    assert (await world.sync()).counters.not_modified == 4


async def test_a_build_stamp_in_the_footer_is_no_change(world: World) -> None:
    await world.sync()
    for path, page in list(world.site.pages.items()):
        body = str(page.body).replace("<footer>", "<footer>Built at 12:34:56 from abcdef ")
        assert body != page.body
        world.site.set(path, body)
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.same_content, counters.updated, counters.embeddings_computed) == (4, 0, 0)
    assert receipt.generation == 1


async def test_servers_without_validators_are_compared_by_their_bytes_and_cost_no_write(
    tmp_path: Path,
) -> None:
    pages = {
        "/": Page(html("Home", "x", links=["/a.html"]), etag=False),
        "/a.html": Page(a_page("/a.html", "oats"), etag=False),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            rows = world.store.rows_written()
            receipt = await world.sync()
            assert (receipt.counters.same_body, receipt.counters.parses) == (2, 0)
            assert world.store.rows_written() - rows <= 9


@pytest.mark.parametrize(
    "options", [{"etag": "weak"}, {"etag": False, "last_modified": "Thu, 02 Mar 2023 10:00:00 GMT"}]
)
async def test_weak_etags_and_last_modified_are_enough_for_a_304(
    tmp_path: Path, options: dict[str, object]
) -> None:
    with Site() as site:
        site.set("/", html("Home", "x"), **options)
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert (await world.sync()).counters.not_modified == 1


async def test_a_page_that_goes_a_b_a_ends_as_a(world: World) -> None:
    await world.sync()
    for word in ("triticale", "rye", "triticale", "rye"):
        world.site.set("/b.html", a_page("/b.html", word))
        receipt = await world.sync()
        assert receipt.counters.updated == 1
        assert await world.found(word) == ["/b.html"]
    assert await world.found("triticale") == []
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_running_twice_equals_running_once(world: World) -> None:
    await world.sync()
    before = await world.store.known((await world.source()).id)
    await world.sync()
    assert await world.store.known((await world.source()).id) == before


async def test_a_full_sync_downloads_again_and_still_embeds_nothing(world: World) -> None:
    await world.sync()
    embedded = len(world.embedder.embedded)
    receipt = await world.sync(full=True)
    assert not any(asked.conditional for asked in world.site.requests)
    assert (receipt.counters.same_content, receipt.counters.parses) == (4, 4)
    assert len(world.embedder.embedded) == embedded


async def test_each_address_is_asked_at_most_once_in_a_run(world: World) -> None:
    for _ in range(2):
        await world.sync()
        paths = [asked.path for asked in world.site.requests]
        assert len(paths) == len(set(paths))


async def test_every_page_says_when_and_how_it_was_verified_without_a_write_for_it(world: World) -> None:
    world.site.set("/b.html", a_page("/b.html", "rye"), etag=False)
    await world.sync()
    world.site.set("/c.html", "broken", status=500)
    world.clock.advance(86_400)
    rows = world.store.rows_written()
    assert (await world.sync()).status is RunStatus.PARTIAL
    assert world.store.rows_written() - rows <= 12, "one failed item, and the heartbeats while it was retried"
    source, now = await world.source(), world.clock.now()
    found = {one.reference.rpartition("/")[2]: one for one in await world.store.documents(source.id)}
    assert {name: one.verified_by for name, one in found.items()} == {
        "": "not_modified",
        "a.html": "not_modified",
        "b.html": "same_body",
        "c.html": "fetched",
    }
    ages = {
        name: round((now - one.verified_at).total_seconds()) for name, one in found.items() if one.verified_at
    }
    assert ages["c.html"] >= 86_400 > 3600 > ages["a.html"]
    (hit,) = (await world.search("rye")).hits
    assert (hit.verified_by, hit.verified_at) == ("same_body", found["b.html"].verified_at)
