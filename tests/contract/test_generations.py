"""What the store promises about generations: the whole old state or the whole new one, never a mix."""

from __future__ import annotations

import pytest

from rowen.core import hashing
from rowen.core.handoff import Ending, HandoffStatus, Reason
from rowen.core.run import Counters, RunStatus
from rowen.core.source import Source, Status
from rowen.errors import LeaseLost
from rowen.ports.store.documents import Linked
from rowen.ports.store.runs import RunEnd
from rowen.ports.store.store import Store
from tests.contract.helpers import (
    LATER,
    NOW,
    a_draft,
    a_generation,
    a_run,
    a_source,
    an_end,
    ingest,
    reload,
    visible,
)

pytestmark = pytest.mark.anyio

A, B, C = "https://docs.example/a", "https://docs.example/b", "https://docs.example/c"


async def test_readers_see_nothing_of_a_generation_before_it_is_activated(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, [a_draft(A, "# A\n\none")], now=NOW))
    assert await visible(store, source) == {}
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert await visible(store, source) == {A: hashing.of_text("# A\n\none")}


async def test_a_staged_change_leaves_the_old_version_visible(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "old", B: "b"})
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, [a_draft(A, "new")], now=NOW))
    known = await store.known(source.id)
    await store.retire(lease, run, [known[B].reference_id])
    assert await visible(store, source) == {A: hashing.of_text("old"), B: hashing.of_text("b")}


async def test_the_next_run_discards_what_lies_beyond_the_active_generation(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "old", B: "b"})
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, [a_draft(A, "new")], now=NOW))
    await store.retire(lease, run, [(await store.known(source.id))[B].reference_id])
    await store.release_lease(lease)

    lease, again = await a_run(store, source)
    await ingest(store, lease, again, await store.stage(lease, again, [a_draft(C, "c")], now=NOW))
    await store.finish_run(lease, again, an_end(again), now=LATER)
    assert await visible(store, source) == {
        A: hashing.of_text("old"),
        B: hashing.of_text("b"),
        C: hashing.of_text("c"),
    }
    runs = await store.runs(source.id, limit=10)
    assert [one.status for one in runs] == [RunStatus.COMPLETED, RunStatus.LOST, RunStatus.COMPLETED]


async def test_a_rollback_followed_by_a_run_does_not_resurrect_the_abandoned_rows(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "one"})
    second = await a_generation(store, source, {A: "two", B: "b"})
    await store.activate(source.id, first.generation, now=LATER)
    assert await visible(store, source) == {A: hashing.of_text("one")}
    third = await a_generation(store, source, {C: "c"})
    assert third.generation > second.generation, "numbers are not used twice"
    assert await visible(store, source) == {A: hashing.of_text("one"), C: hashing.of_text("c")}


async def test_activation_writes_a_number_of_rows_that_does_not_depend_on_the_size(store: Store) -> None:
    written = []
    for name, size in (("small", 3), ("large", 300)):
        source = await a_source(store, name)
        lease, run = await a_run(store, source)
        drafts = [a_draft(f"https://{name}.example/{n}", f"page {n}") for n in range(size)]
        await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
        before = store.rows_written()
        await store.finish_run(lease, run, an_end(run, documents=size), now=LATER)
        written.append(store.rows_written() - before)
    assert written[0] == written[1] <= 5


async def test_a_run_that_changes_nothing_keeps_the_generation(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "one"})
    lease, run = await a_run(store, source)
    await store.finish_run(lease, run, an_end(run, activate=False), now=LATER)
    after = await reload(store, source)
    assert after.active_generation == first.generation
    assert (await store.runs(source.id, limit=1))[0].generation == first.generation


async def test_a_held_generation_keeps_its_number_and_can_be_shown(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    lease, run = await a_run(store, source)
    await store.retire(lease, run, [(await store.known(source.id))[B].reference_id])
    end = an_end(run, activate=False)
    held = type(end)(
        status=RunStatus.HELD,
        mode=run.mode,
        stop_reason="deletion_guard",
        counters=end.counters,
        error="held",
        items=(),
        hold=run.generation,
        hold_reason="too many",
        documents=1,
        source_status=Status.ERROR,
    )
    await store.finish_run(lease, run, held, now=LATER)
    source = await reload(store, source)
    assert (source.held_generation, source.held_reason) == (run.generation, "too many")
    assert set(await visible(store, source)) == {A, B}
    await store.activate(source.id, run.generation, now=LATER)
    source = await reload(store, source)
    assert source.held_generation is None
    assert set(await visible(store, source)) == {A}


async def test_changes_between_two_generations_name_added_changed_and_removed(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "# A\n\nsame\n\n## One\n\nold", B: "# B\n\nb"})
    second = await a_generation(store, source, {A: "# A\n\nsame\n\n## One\n\nnew", C: "# C\n\nc"}, gone=[B])
    changes = await store.changes(source.id, first.generation, second.generation)
    assert [(change.kind, change.reference) for change in changes] == [
        ("changed", A),
        ("removed", B),
        ("added", C),
    ]
    assert changes[0].headings_added == ("A › One",)
    assert changes[0].headings_removed == ("A › One",)
    back = await store.changes(source.id, second.generation, first.generation)
    assert [(change.kind, change.reference) for change in back] == [
        ("changed", A),
        ("added", B),
        ("removed", C),
    ]


async def test_vacuum_forgets_what_died_before_the_floor_and_nothing_else(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "kept"})
    second = await a_generation(store, source, {A: "two"})
    third = await a_generation(store, source, {A: "three"})
    done = await store.vacuum({source.id: second.generation}, everything=True)
    assert (done.documents, done.contents, done.passages, done.vectors) == (1, 1, 1, 1)
    assert [g.number for g in await store.generations(source.id)] == [second.generation, third.generation]
    await store.activate(source.id, second.generation, now=LATER)
    assert await visible(store, source) == {A: hashing.of_text("two"), B: hashing.of_text("kept")}


async def references(store: Store, source: Source) -> set[str]:
    return set((await store.references(source.id)).ids)


async def test_vacuum_forgets_references_that_nothing_mentions(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    kept = a_draft(A, "kept", links=["https://d.example/linked"])
    dying = a_draft(B, "dying", links=["https://d.example/only-from-b"])
    await ingest(store, lease, run, await store.stage(lease, run, [kept, dying], now=NOW))
    names = {
        "https://d.example/other-name": A,
        "https://d.example/name-of-nothing": "https://d.example/nothing",
        "https://d.example/linked": "https://d.example/moved",
    }
    await store.save_aliases(lease, source.id, names)
    known = await references(store, source)
    assert (await store.vacuum({source.id: 0}, everything=True)).references == 0, "a run is under way"
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.release_lease(lease)
    third = await a_generation(store, source, {}, gone=[B])
    done = await store.vacuum({source.id: third.generation}, handoffs_before=LATER, everything=True)
    assert await references(store, source) == known - {
        B,
        "https://d.example/only-from-b",
        "https://d.example/name-of-nothing",
        "https://d.example/nothing",
    }
    assert done.references == 4
    aliases = (await store.references(source.id)).aliases
    assert aliases == {name: of for name, of in names.items() if of != "https://d.example/nothing"}
    # An address that was forgotten gets a new number when it is met again.
    await a_generation(store, source, {B: "back"})
    assert set(await visible(store, source)) == {A, B}


async def test_vacuum_keeps_a_text_that_another_source_still_uses(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await a_generation(store, one, {A: "shared"})
    await a_generation(store, other, {B: "shared"})
    await a_generation(store, one, {A: "new"})
    floor = (await a_generation(store, one, {A: "newer"})).generation
    done = await store.vacuum({one.id: floor}, everything=True)
    assert done.documents == 2
    assert await visible(store, other) == {B: hashing.of_text("shared")}
    assert done.contents == 1


async def test_a_zombie_that_lost_its_lease_can_write_nothing(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one"})
    zombie, run = await a_run(store, source)
    await store.release_lease(zombie)
    await a_run(store, source)
    reference = (await store.known(source.id))[A].reference_id
    before = store.rows_written()
    with pytest.raises(LeaseLost):
        await store.stage(zombie, run, [a_draft(A, "zombie")], now=NOW)
    with pytest.raises(LeaseLost):
        await store.retire(zombie, run, [reference])
    with pytest.raises(LeaseLost):
        await store.finish_run(zombie, run, an_end(run), now=LATER)
    with pytest.raises(LeaseLost):
        await store.begin_run(zombie, source.id, full=False, now=LATER)
    with pytest.raises(LeaseLost):
        await store.renew_lease(zombie, now=LATER, ttl_s=60)
    assert store.rows_written() == before


async def test_a_payload_met_again_reopens_its_one_handoff(store: Store) -> None:
    source = await a_source(store)
    for text in ("a", "b", "a"):
        await a_generation(store, source, {A: text})
    assert await visible(store, source) == {A: hashing.of_text("a")}
    handoffs = await store.handoffs(source_id=source.id)
    assert len(handoffs) == 2
    assert {handoff.status for handoff in handoffs} == {HandoffStatus.COMPLETED}

    lease, run = await a_run(store, source)
    await store.stage(lease, run, [a_draft(A, "b")], now=NOW)
    (queued,) = await store.handoffs(source_id=source.id, status=HandoffStatus.QUEUED)
    assert queued.reason_code == Reason.REOPENED_AFTER_REVERT


async def test_unfinished_handoffs_of_an_earlier_run_are_superseded_by_a_new_generation(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await store.stage(lease, run, [a_draft(A, "never ingested")], now=NOW)
    await store.release_lease(lease)
    await a_generation(store, source, {A: "ingested"})
    (failed,) = await store.handoffs(source_id=source.id, status=HandoffStatus.FAILED)
    assert failed.reason_code == Reason.SUPERSEDED


async def test_an_interrupted_runs_handoffs_can_be_revived_with_their_text(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    draft = a_draft(A, "# A\n\nfirst", links=[B, C])
    await ingest(store, lease, run, await store.stage(lease, run, [draft], now=NOW))
    await store.release_lease(lease)

    lease, run = await a_run(store, source)
    assert await visible(store, source) == {}
    leftovers = await store.leftovers(source.id)
    assert leftovers[A].document_id == 0
    assert leftovers[A].validators == draft.validators
    staged = await store.revive(lease, run, [A], now=NOW)
    assert [(one.draft, one.sectioned) for one in staged] == [(draft, True)]
    await ingest(store, lease, run, staged)
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert await visible(store, source) == {A: draft.content_hash}


async def test_an_attempt_made_alone_counts_from_its_start_even_when_nothing_ends_it(store: Store) -> None:
    source = await a_source(store)
    few, alone = Reason.RETRIED_WITH_FEW, Reason.RETRIED_ALONE
    for attempts, suspect in ((0, None), (0, few), (0, alone), (1, alone), (2, alone), (3, alone)):
        lease, run = await a_run(store, source)
        (staged,) = await store.stage(lease, run, [a_draft(A, "poison")], now=NOW)
        assert (staged.attempts, staged.suspect) == (attempts, suspect)
        # The process may also end before its turn comes.
        (staged,) = await store.stage(lease, run, [a_draft(A, "poison")], now=NOW)
        assert (staged.attempts, staged.suspect) == (attempts, suspect)
        await store.start_handoffs(lease, [staged.handoff_id], now=NOW, suspect=suspect)
        (seen,) = await store.staged(run, [staged.handoff_id])
        found = (attempts + 1, alone) if suspect is alone else (0, alone if suspect else few)
        assert (seen.attempts, seen.suspect) == found, "as another worker finds it"
        await store.release_lease(lease)


async def test_an_attempt_that_is_put_back_does_not_count(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    for suspect in (None, Reason.RETRIED_WITH_FEW, Reason.RETRIED_ALONE):
        (staged,) = await store.stage(lease, run, [a_draft(A, "a")], now=NOW)
        ids = [staged.handoff_id]
        await store.start_handoffs(lease, ids, now=NOW, suspect=suspect)
        await store.put_back_handoffs(lease, ids, now=NOW)
        (staged,) = await store.stage(lease, run, [a_draft(A, "a")], now=NOW)
        assert (staged.attempts, staged.suspect) == (0, suspect)
    await ingest(store, lease, run, [staged])
    await store.put_back_handoffs(lease, ids, now=NOW)
    assert (await store.handoffs())[0].status is HandoffStatus.COMPLETED, "what has ended stays"


async def test_what_was_given_up_stays_so_until_a_full_run_or_a_retry_by_hand(store: Store) -> None:
    source, alone = await a_source(store), Reason.RETRIED_ALONE
    lease, run = await a_run(store, source)
    draft, lost = a_draft(A, "poison"), Ending(HandoffStatus.FAILED, Reason.WORKER_LOST)
    (one,) = await store.stage(lease, run, [draft], now=NOW)
    for _ in range(3):
        await store.start_handoffs(lease, [one.handoff_id], now=NOW, suspect=alone)

    async def met(**options: bool) -> tuple[int, Reason | None]:
        (staged,) = await store.stage(lease, run, [draft], now=NOW, **options)
        await store.settle_handoffs(lease, {one.handoff_id: lost}, now=NOW)
        return staged.attempts, staged.suspect

    assert await met() == (3, alone)
    (staged,) = await store.revive(lease, run, [A], now=NOW)
    assert (staged.attempts, staged.suspect) == (3, alone)
    assert await met() == (3, alone)
    assert await met(full=True) == (0, alone)
    assert await store.requeue_handoff(one.handoff_id, now=NOW)
    assert await met() == (0, alone)


async def test_a_reference_that_changed_and_went_in_one_run_is_gone(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "old", B: "b"})
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, [a_draft(A, "new")], now=NOW))
    await store.retire(lease, run, [(await store.known(source.id))[A].reference_id])
    assert set(await visible(store, source)) == {A, B}
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert set(await visible(store, source)) == {B}


async def test_an_approved_generation_is_a_success(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one"})
    lease, run = await a_run(store, source)
    end = RunEnd(
        status=RunStatus.HELD,
        mode=run.mode,
        stop_reason="deletion_guard",
        counters=Counters(),
        error="held",
        items=(),
        hold=run.generation,
        hold_reason="too many",
        source_status=Status.ERROR,
    )
    await store.finish_run(lease, run, end, now=NOW)
    await store.activate(source.id, run.generation, now=LATER)
    after = await reload(store, source)
    assert (after.status, after.last_error, after.consecutive_failures) == (Status.SUCCESS, None, 0)
    assert after.last_success_at == NOW, "its text is as old as its run"


async def test_what_a_generation_replaces_is_told_with_both_texts(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    long = "grain " * 1000
    await a_generation(store, other, {A: "not of this source"})
    await a_generation(store, source, {A: "one", B: long})
    lease, run = await a_run(store, source)
    drafts = [a_draft(A, "same"), a_draft(B, "same"), a_draft(C, "néw")]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))

    staged = {one.reference: one for one in await store.replacements(source.id, run.generation)}

    assert staged.keys() == {A, B, C}
    assert (staged[A].text_before, staged[A].text, staged[A].bytes_before) == ("one", "same", 3)
    assert (staged[B].text_before, staged[B].bytes_before) == (None, len(long)), (
        "long texts stay where they are"
    )
    assert staged[A].content == staged[B].content != staged[A].content_before
    assert (staged[C].content_before, staged[C].bytes_before, staged[C].bytes) == (None, 0, 4)
    assert await store.replacements(source.id, run.generation + 1) == []


async def test_the_other_names_of_a_document_are_told_until_they_stand_for_nothing(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "two"})
    lease, run = await a_run(store, source)
    await store.save_aliases(lease, source.id, {f"{A}/": A, f"{A}?print=1": A})
    known = await store.known(source.id)
    assert await store.aliases(known[A].document_id) == [f"{A}/", f"{A}?print=1"]
    assert await store.aliases(known[B].document_id) == []
    await store.save_aliases(lease, source.id, {f"{A}/": None})
    assert await store.aliases(known[A].document_id) == [f"{A}?print=1"]
    await store.finish_run(lease, run, an_end(run, activate=False), now=LATER)


async def test_links_lead_to_what_readers_see_and_name_what_they_do_not(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    drafts = [a_draft(A, "one", links=[B, C]), a_draft(B, "two")]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    known = await store.known(source.id)
    led = await store.linked(list(known[A].links))
    to_b = Linked(reference=B, document_id=known[B].document_id, title="b")
    to_c = Linked(reference=C, document_id=None, title="")
    assert [led[one] for one in known[A].links] == [to_b, to_c]
    assert await store.linked([]) == {}
