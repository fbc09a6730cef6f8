"""What people change with the forms of the page, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.handoff import Ending, HandoffStatus, Reason
from rowen.core.lease import source_lease_name
from rowen.core.safety.access import Scope
from tests.contract.helpers import a_draft
from tests.doors.web.conftest import Person, Shown, hold
from tests.support.begun import begun
from tests.support.world import a_page

pytestmark = pytest.mark.anyio


async def changed(person: Person, words: str = "new words") -> None:
    """Another generation: a page says something else."""
    person.world.site.set("/rye", a_page("/rye", *words.split()))
    assert (await person.world.sync()).counters.updated == 1


async def press(person: Person, action: str, at: str = "/sources/docs", **fields: str) -> Shown:
    return await person.send(await person.get(at), action, **fields)


async def test_sync_leads_to_the_run(person: Person) -> None:
    page = await press(person, "/sources/docs/sync")
    assert page.status == 200 and "/sources/docs/runs/" in page.url
    await person.queue.sync(await person.world.source())
    assert (await person.world.store.stats((await person.world.source()).id)).documents == 3


async def test_pause_says_who_and_offers_the_way_back(reader: Person) -> None:
    await reader.sign_in(await reader.token(Scope.ADMIN, "ops"))
    page = await press(reader, "/sources/docs/pause")
    assert (await reader.world.source()).paused_by == "token ops"
    assert "Paused. Nothing is asked of it" in page.words and "Undo" in page.words
    undone = await reader.send(page, "/sources/docs/resume")
    assert not (await reader.world.source()).paused
    assert "It runs by its schedule again" in undone.words


async def test_rollback_says_what_the_next_sync_does_and_can_be_undone(reader: Person) -> None:
    await changed(reader)
    page = await press(reader, "/sources/docs/rollback")
    assert (await reader.world.source()).active_generation == 1
    assert "Rolled back to 1. The next sync goes forward again; pin to stay." in page.words
    await reader.send(page, "/sources/docs/rollback")
    assert (await reader.world.source()).active_generation == 2


async def test_a_rollback_can_be_pinned(reader: Person) -> None:
    await changed(reader)
    page = await press(reader, "/sources/docs/rollback", pin="1")
    assert (await reader.world.source()).is_pinned
    assert "Pinned to 1" in page.words and "/sources/docs/sync" not in page.text


async def test_what_is_held_comes_first_and_is_shown_when_approved(person: Person) -> None:
    await hold(person)
    first = await person.get("/")
    assert "many is held" in first.words and "See what would go" in first.words
    page = await person.get("/sources/many")
    assert "Generation 2 is held" in page.words and "/*" in page.words
    approved = await person.send(page, "/sources/many/approve")
    assert (await person.world.source("many")).active_generation == 2
    assert "Generation 2 is visible" in approved.words
    await person.send(approved, "/sources/many/rollback")
    assert (await person.world.source("many")).active_generation == 1


async def test_only_the_generation_that_was_looked_at_is_approved(person: Person) -> None:
    await hold(person)
    page = await person.get("/sources/many")
    await person.world.sync("many")
    newer = (await person.world.source("many")).held_generation
    refused = await person.send(page, "/sources/many/approve", generation="1")
    assert refused.status == 409 and f"{newer} is" in refused.words
    assert (await person.world.source("many")).active_generation == 1


async def test_a_hold_gets_louder_with_age(person: Person) -> None:
    await hold(person)
    assert '<div class="note"><div><span class="st st-held">many' in (await person.get("/")).text
    person.world.clock.advance(3 * 86_400)
    assert '<div class="note bad"><div><span class="st st-held">many' in (await person.get("/")).text


async def test_a_source_is_removed_when_its_name_was_typed(reader: Person) -> None:
    refused = await press(reader, "/sources/docs/remove", typed="dosc")
    assert refused.status == 422 and "nothing was removed" in refused.words
    gone = await press(reader, "/sources/docs/remove", typed="docs")
    assert gone.status == 200 and "docs and everything stored of it was removed" in gone.words
    assert await reader.world.store.sources() == []


async def test_cancelling_what_does_not_run_says_so(reader: Person) -> None:
    key = (await reader.get("/sources/docs")).fields("/sources/docs/sync")
    page = await reader.ask("POST", "/sources/docs/cancel", data=key, headers={"Origin": reader.url})
    assert "Nothing was under way" in page.words


async def test_why_an_address_cannot_be_added_is_said_in_sentences_that_are_true_on_the_page(
    person: Person, tmp_path: Path
) -> None:
    folder = await person.get(f"/add?location={tmp_path}")
    assert "not there, or not below a folder that sources added by API may read." in folder.words
    assert "The operator allows folders with service.allowed_roots" in folder.words
    unnamed = (await person.get("/add?location=https://")).words
    assert "Location https:// : no host in it. For example https://docs.example.org ." in unnamed


async def test_a_source_is_looked_at_before_it_is_added(person: Person) -> None:
    site = person.world.site
    private = await person.get(f"/add?location={site.url}/rye")
    assert "Nothing was stored" in private.words, "what comes over the network may not be private"
    assert len(await person.world.store.sources()) == 1


async def test_a_link_of_another_site_asks_no_server(person: Person) -> None:
    person.world.site.clear_log()
    page = await person.get(
        f"/add?location={person.world.site.url}/", headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert "Press Look at it to ask" in page.words
    assert person.world.site.requests == []


async def test_tokens_are_made_and_removed(person: Person) -> None:
    page = await press(person, "/settings/tokens", at="/settings", name="ops", scope="admin")
    assert page.status == 200 and "write it down, it is not shown again" in page.words
    secret = page.text.split("<code>rowen_")[1].split("</code>")[0]
    assert (await person.get("/settings")).status == 401
    await person.sign_in(f"rowen_{secret}")
    refused = await press(person, "/settings/tokens/remove", at="/settings", typed="x")
    assert refused.status == 422
    await press(person, "/settings/tokens/remove", at="/settings", typed="ops")
    assert await person.world.store.tokens() == []


async def unfinished_handoff(person: Person, *, failed: bool) -> int:
    """As a run leaves it whose process died, or whose worker gave up."""
    world = person.world
    source, now = await world.source(), world.clock.now()
    lease = await world.store.acquire_lease(source_lease_name(source.id), "gone", now=now, ttl_s=60)
    assert lease is not None
    run = await begun(world.store, lease, source.id, full=True, now=now)
    draft = a_draft(world.site.url + "/rye", "rye")
    (staged,) = await world.store.stage(lease, run, [draft], now=now)
    if failed:
        ending = Ending(HandoffStatus.FAILED, Reason.RETRY_EXHAUSTED, "x")
        await world.store.settle_handoffs(lease, {staged.handoff_id: ending}, now=now)
    await world.store.release_lease(lease)
    return staged.handoff_id


async def test_ticked_handoffs_are_retried_and_those_that_cannot_be_are_counted(person: Person) -> None:
    number = await unfinished_handoff(person, failed=True)
    page = await person.get("/handoffs?status=failed")
    assert "/rye" in page.words
    for done, not_done in ((1, 0), (0, 1)):
        answer = await person.send(page, "/handoffs", change="retry", id=str(number))
        assert f"{done} handoff" in answer.words and "queued again" in answer.words
        assert ("1 other could not be" in answer.words) is bool(not_done)
    assert (await person.world.store.handoff(number)).status.value == "queued"  # type: ignore[union-attr]


async def test_ticked_handoffs_are_cancelled(person: Person) -> None:
    number = await unfinished_handoff(person, failed=False)
    await person.send(await person.get("/handoffs"), "/handoffs", change="cancel", id=str(number))
    assert (await person.world.store.handoff(number)).status.value == "failed"  # type: ignore[union-attr]


async def test_somebody_subscribes_on_the_page_and_unsubscribes_by_typing_the_name(reader: Person) -> None:
    page = await press(
        reader,
        "/subscriptions",
        "/sinks",
        way="path",
        wanted="*",
        url="https://hooks.example.org/",
        name="mine",
    )
    assert "Subscribed as mine." in page.words and "3 places now" in page.words
    (listed,) = (await reader.get("/sinks.json")).json["subscriptions"]
    assert (listed["subscription"], listed["asks"], listed["messages"]) == ("mine", {"path": "*"}, 0)
    refused = await press(reader, "/subscriptions/mine/remove", "/sinks", typed="other")
    assert refused.status == 422 and "must be typed as it is" in refused.words
    gone = await press(reader, "/subscriptions/mine/remove", "/sinks", typed="mine")
    assert "Unsubscribed mine." in gone.words and "There are none." in gone.words


async def test_a_page_of_a_person_with_a_token_subscribes_no_private_address(reader: Person) -> None:
    await reader.sign_in(await reader.token(Scope.ADMIN, "ops"))
    fields = {"way": "path", "wanted": "*", "url": "http://127.0.0.1:1/"}
    refused = await press(reader, "/subscriptions", "/sinks", **fields)
    assert refused.status == 422 and "not a public address" in refused.words


async def test_a_reader_sees_subscriptions_and_no_form(reader: Person) -> None:
    await reader.sign_in(await reader.token(Scope.READ, "guest"))
    page = await reader.get("/sinks")
    assert "Subscriptions" in page.words and "/subscriptions" not in page.text
