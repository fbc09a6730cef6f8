"""Generations in PostgreSQL: which there are, moving the pointer, what differs, and forgetting."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from rowen.adapters.store.postgres.feed import activated
from rowen.adapters.store.postgres.migrate import ADVISORY
from rowen.adapters.store.postgres.rows import maybe_time_in
from rowen.adapters.store.postgres.transaction import Transaction
from rowen.core.generation import Change, Generation
from rowen.ports.store.generations import Vacuumed


def generations(db: Transaction, source_id: int) -> list[Generation]:
    return [
        Generation(
            number=number,
            run_id=run_id,
            activated_at=maybe_time_in(activated_at),
            documents=documents,
            active=active,
        )
        for number, run_id, activated_at, documents, active in db.rows(
            "generations_by_source", source=source_id
        )
    ]


def activate(db: Transaction, source_id: int, generation: int, now: datetime) -> None:
    made = db.row("generation_run", source=source_id, generation=generation)
    # Going forward it is the news of the run that was held; going back it undoes the runs between.
    run_id = made[0] if made and not made[1] else None
    activated(db, source_id, generation, run_id, now)
    db.write("activate", source=source_id, generation=generation, now=now)
    db.write("generation_activated", source=source_id, generation=generation, now=now)


def changes(db: Transaction, source_id: int, from_generation: int, to_generation: int) -> list[Change]:
    before = _versions(db, source_id, at=from_generation, other=to_generation)
    after = _versions(db, source_id, at=to_generation, other=from_generation)
    both = before.keys() & after.keys()
    paths = _paths(db, [version[ref][3] for version in (before, after) for ref in both])
    found: list[Change] = []
    for ref_id in sorted(before | after, key=lambda ref: (before.get(ref) or after[ref])[0]):
        old, new = before.get(ref_id), after.get(ref_id)
        reference, url, title, _ = new or before[ref_id]
        added: tuple[str, ...] = ()
        removed: tuple[str, ...] = ()
        if old and new:
            old_paths, new_paths = paths.get(old[3], {}), paths.get(new[3], {})
            added = tuple(dict.fromkeys(path for pid, path in new_paths.items() if pid not in old_paths))
            removed = tuple(dict.fromkeys(path for pid, path in old_paths.items() if pid not in new_paths))
        kind = "changed" if old and new else "added" if new else "removed"
        found.append(
            Change(
                reference=reference,
                url=url,
                title=title,
                kind=kind,
                headings_added=added,
                headings_removed=removed,
            )
        )
    return found


def vacuum(db: Transaction, floors: Mapping[int, int], everything: bool) -> Vacuumed:
    db.rows("texts_forgotten", key=ADVISORY)
    documents = handoffs = 0
    touched: set[int] = set()
    for source_id, floor in floors.items():
        dead = [row[0] for row in db.rows("vacuum_documents", source=source_id, floor=floor)]
        done = [row[0] for row in db.rows("vacuum_handoffs", source=source_id, floor=floor)]
        db.write("vacuum_generations", source=source_id, floor=floor)
        documents += len(dead)
        handoffs += len(done)
        touched.update(dead, done)
    contents = [row[0] for row in db.rows("contents_unused", ids=list(touched), everything=everything)]
    candidates = [row[0] for row in db.rows("contents_passages", ids=contents)]
    db.write("contents_delete", ids=contents)
    passages = [row[0] for row in db.rows("passages_unused", ids=candidates, everything=everything)]
    vectors = db.write("vectors_delete", ids=passages)
    db.write("passages_delete", ids=passages)
    return Vacuumed(
        documents=documents,
        contents=len(contents),
        passages=len(passages),
        vectors=vectors,
        handoffs=handoffs,
    )


def size(db: Transaction) -> int:
    return int(db.value("size"))


def _versions(
    db: Transaction, source_id: int, *, at: int, other: int
) -> dict[int, tuple[str, str, str, int]]:
    rows = db.rows("versions_at", source=source_id, at=at, other=other)
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}


def _paths(db: Transaction, contents: list[int]) -> dict[int, dict[int, str]]:
    found: dict[int, dict[int, str]] = {}
    for content_id, passage_id, path in db.rows("section_paths", contents=contents):
        found.setdefault(content_id, {})[passage_id] = path
    return found
