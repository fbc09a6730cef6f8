"""Numbered states of a source: which there are, moving the pointer, what differs, and forgetting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Lock, Row, Transaction
from rowen.adapters.store.shared.values import Json, json_in, links_in, time_in
from rowen.core.document import DETAILS, TEXT, changed_metadata
from rowen.core.generation import Activation, Cause, Change, Generation, Replacement, Shown, Version
from rowen.core.run import Result, Run, RunStatus
from rowen.ports.store.generations import Vacuumed

_Row = tuple[str, str, str, int, str]
"""Reference, URL, title, content, metadata as the database has it."""
SHORT_BYTES = 4_000
"""Error pages and login walls are shorter; longer texts are not loaded to be looked at."""


class Generations(Topic):
    @reads
    def generations(self, db: Transaction, source_id: int) -> list[Generation]:
        return db.all(Generation, "generations_by_source", source=source_id)

    @reads
    def activations(self, db: Transaction, source_id: int, *, limit: int = 100) -> list[Activation]:
        return db.all(Activation, "activations_by_source", source=source_id, limit=limit)

    @reads
    def activations_since(
        self, db: Transaction, source_id: int, since: datetime, *, limit: int = 1000
    ) -> list[Activation]:
        values = {"source": source_id, "since": since, "limit": limit}
        return db.all(Activation, "activations_since", **values)[::-1]

    @reads
    def shown_at(self, db: Transaction, at: datetime) -> list[Shown]:
        return db.all(Shown, "shown_at", at=at)

    @reads
    def oldest_seen(self, db: Transaction, source_id: int, since: datetime) -> int | None:
        number: int | None = db.value("oldest_seen", source=source_id, since=since)
        return number

    @reads
    def removed_since(self, db: Transaction, at: datetime) -> list[tuple[str, datetime]]:
        return [(row[0], time_in(row[1])) for row in db.rows("removed_since", at=at)]

    @writes
    def activate(
        self,
        db: Transaction,
        source_id: int,
        generation: int,
        *,
        now: datetime,
        by: str | None = None,
        pin: bool = False,
    ) -> None:
        made = db.row("generation_run", source=source_id, generation=generation)
        # Going forward, the feed reports the run that was held; going back, the runs between are undone.
        run_id = made[0] if made and not made[1] else None
        cause = Cause.ROLLBACK if run_id is None else Cause.APPROVAL
        record_activation(db, source_id, generation, run_id, now, cause=cause, by=by)
        run = db.one(Run, "run_by_id", run=made[0]) if made else None
        result = _approved(run) if run else None
        db.write(
            "activate",
            source=source_id,
            generation=generation,
            # Its text is as old as its run, whenever a person approves it.
            succeeded_at=run.finished_at if run and result and not result.failed else None,
            result=Json(result.as_dict()) if result else None,
        )
        db.write("generation_activated", source=source_id, generation=generation, now=now)
        if run is not None and cause is Cause.APPROVAL:
            from rowen.adapters.store.shared.topics.learning.rates import record_changes

            record_changes(db, source_id, run.id, generation, run.started_at)
        if cause is Cause.ROLLBACK:
            db.write("verification_forget", source=source_id)
        if pin:
            db.write("source_pinned", source=source_id, pinned=True, by=by, now=now)

    @reads
    def changes(
        self, db: Transaction, source_id: int, from_generation: int, to_generation: int
    ) -> list[Change]:
        before = _versions(db, source_id, at=from_generation, other=to_generation)
        after = _versions(db, source_id, at=to_generation, other=from_generation)
        both = before.keys() & after.keys()
        paths = _paths(db, [version[ref][3] for version in (before, after) for ref in both])
        refs = sorted(before | after, key=lambda ref: (before.get(ref) or after[ref])[0])
        return [_change(before.get(ref), after.get(ref), paths) for ref in refs]

    @reads
    def versions(
        self, db: Transaction, source_id: int, reference: str, *, text_at: tuple[int, int] = (-1, -1)
    ) -> list[Version]:
        first, second = text_at
        keys = [db.key(reference)]
        return db.all(Version, "versions_of", source=source_id, keys=keys, first=first, second=second)

    @reads
    def replacements(self, db: Transaction, source_id: int, generation: int) -> list[Replacement]:
        values = {"source": source_id, "generation": generation, "short": SHORT_BYTES}
        return db.all(Replacement, "replacements", **values)

    async def vacuum(
        self, floors: Mapping[int, int], *, handoffs_before: datetime | None = None, everything: bool
    ) -> Vacuumed:
        before = await self._size()
        done = await self._db.write(lambda db: _vacuum(db, floors, handoffs_before, everything))
        if everything:
            await self._give_space_back()
        return replace(done, bytes_before=before, bytes_after=await self._size())

    @abstractmethod
    async def _size(self) -> int:
        """How many bytes the store takes on the disk."""

    @abstractmethod
    async def _give_space_back(self) -> None: ...


def _approved(run: Run) -> Result:
    """How a run ended whose generation was held and then approved."""
    failed = run.counters.get("failed", 0)
    status = RunStatus.PARTIAL if failed else RunStatus.COMPLETED
    processed = run.result.processed
    return Result(status, run.stop_reason, failed, mode=run.mode.value, processed=processed)


def record_activation(
    db: Transaction,
    source_id: int,
    generation: int,
    run_id: int | None,
    now: datetime,
    *,
    cause: Cause = Cause.RUN,
    by: str | None = None,
) -> int | None:
    """Write down that a generation is about to be shown; the caller moves the pointer. Returns its number.

    invariant: activations become visible in the order of their numbers. A reader of the feed who has seen one
    would otherwise never see a smaller one whose transaction took longer.
    """
    db.lock(Lock.FEED)
    number: int | None = db.value(
        "activation_insert",
        source=source_id,
        generation=generation,
        run=run_id,
        now=now,
        cause=cause.value,
        actor=by,
    )
    return number


def record_removal(db: Transaction, source_id: int, now: datetime) -> None:
    """Write down that a source is about to be deleted; the activation that gives the number goes with it."""
    number = record_activation(db, source_id, 0, None, now)
    if number is not None:
        db.write("removal_insert", number=number, source=source_id, now=now)


def _vacuum(
    db: Transaction, floors: Mapping[int, int], handoffs_before: datetime | None, everything: bool
) -> Vacuumed:
    db.lock(Lock.TEXTS_FORGOTTEN)
    documents = handoffs = 0
    recorded = bool(db.value("handoffs_there"))
    touched: set[int] = set()
    refs: set[int] = set()
    for source_id, floor in floors.items():
        died = db.rows("vacuum_documents", source=source_id, floor=floor)
        forgotten = db.rows("handoff_texts", source=source_id, floor=floor) if recorded else []
        dead, texts = _ids(died), _ids(forgotten)
        refs.update(row[1] for row in (*died, *forgotten))
        if texts:
            db.write("drafts_forget", source=source_id, floor=floor)
            db.write("handoff_texts_forget", source=source_id, floor=floor)
        if recorded and handoffs_before is not None:
            done = db.rows("vacuum_handoffs", source=source_id, before=handoffs_before)
            handoffs += len(done)
            texts += [row[0] for row in done if row[0] is not None]
            refs.update(row[1] for row in done)
        db.write("vacuum_generations", source=source_id, floor=floor)
        if dead:
            from rowen.adapters.store.shared.topics.learning.rates import forget_changes

            forget_changes(db, source_id)
        documents += len(dead)
        touched.update(dead, texts)
    if recorded:
        # Without the table of handoffs it cannot be told which versions may come back.
        # Records go first: a text stays that one of them goes on from.
        from rowen.adapters.store.shared.topics.records import forget_records

        forget_records(db, refs, everything=everything)
    contents = _ids(
        db.rows("contents_unused") if everything else db.rows("contents_unused_among", ids=list(touched))
    )
    if recorded and contents:
        contents = sorted({*contents}.difference(_ids(db.rows("contents_handed_off", ids=contents))))
    candidates = _ids(db.rows("contents_passages", ids=contents))
    db.write("contents_delete", ids=contents)
    passages = _ids(
        db.rows("passages_unused") if everything else db.rows("passages_unused_among", ids=candidates)
    )
    vectors = db.write("vectors_delete", ids=passages)
    db.write("passages_delete", ids=passages)
    unmentioned: list[int] = []
    if everything and recorded:
        # Without the table of handoffs it cannot be told which references they mention.
        unmentioned = [one for source_id in floors for one in _unmentioned(db, source_id)]
        db.write("refs_delete", ids=unmentioned)
    return Vacuumed(
        references=len(unmentioned),
        documents=documents,
        contents=len(contents),
        passages=len(passages),
        vectors=vectors,
        handoffs=handoffs,
    )


def _unmentioned(db: Transaction, source_id: int) -> list[int]:
    """References that no document, handoff, link or kept alias leads to.

    A run holds references in memory, and numbers may be given again: while one works, none of its source go.
    """
    unused = set(_ids(db.rows("refs_unused", source=source_id)))
    if unused:
        for (links,) in db.each("links_by_source", source=source_id):
            unused.difference_update(links_in(links))
        aliases: dict[int, int] = dict(db.rows("aliases_by_source", source=source_id))
        # Another name is kept with what it names, and what a kept one names is kept.
        while (
            kept := {one for pair in aliases.items() if not unused.issuperset(pair) for one in pair} & unused
        ):
            unused -= kept
    return sorted(unused)


def _ids(rows: list[Row]) -> list[int]:
    return [row[0] for row in rows]


def _versions(db: Transaction, source_id: int, *, at: int, other: int) -> dict[int, _Row]:
    rows = db.rows("versions_at", source=source_id, at=at, other=other)
    return {row[0]: (row[1], row[2], row[3], row[4], row[5]) for row in rows}


def _paths(db: Transaction, contents: list[int]) -> dict[int, dict[int, str]]:
    """The heading paths of contents, by passage."""
    found: dict[int, dict[int, str]] = {}
    for content_id, passage_id, path in db.rows("section_paths", contents=contents):
        found.setdefault(content_id, {})[passage_id] = path
    return found


def _change(old: _Row | None, new: _Row | None, paths: Mapping[int, Mapping[int, str]]) -> Change:
    shown = new or old
    assert shown is not None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    if old and new:
        before, after = paths.get(old[3], {}), paths.get(new[3], {})
        added = tuple(dict.fromkeys(path for passage, path in after.items() if passage not in before))
        removed = tuple(dict.fromkeys(path for passage, path in before.items() if passage not in after))
    return Change(
        reference=shown[0],
        url=shown[1],
        title=shown[2],
        kind="changed" if old and new else "added" if new else "removed",
        headings_added=added,
        headings_removed=removed,
        fields=tuple(_fields(old, new, text=bool(added or removed))) if old and new else (),
    )


def _fields(old: _Row, new: _Row, *, text: bool) -> Iterator[str]:
    if text:
        yield TEXT
    if old[2] != new[2]:
        yield "title"
    if old[1] != new[1]:
        yield "url"
    metadata = list(changed_metadata(json_in(old[4]), json_in(new[4]))) if old[4] != new[4] else []
    if old[3] != new[3] and not text and not metadata:
        yield DETAILS
    yield from metadata
