"""Generations in SQLite: which there are, moving the pointer, what differs, and forgetting."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import apsw

from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import ids_parameter, time_in, time_out
from rowen.core.generation import Change, Generation
from rowen.ports.store.generations import Vacuumed


def generations(db: apsw.Connection, source_id: int) -> list[Generation]:
    return [
        Generation(
            number=number,
            run_id=run_id,
            activated_at=time_in(activated_at),
            documents=documents,
            active=bool(active),
        )
        for number, run_id, activated_at, documents, active in db.execute(
            sql("generations_by_source"), (source_id,)
        )
    ]


def activate(db: apsw.Connection, source_id: int, generation: int, now: datetime) -> None:
    values = {"source": source_id, "generation": generation, "now": time_out(now)}
    run_id = db.execute(sql("run_of_generation"), values).get
    shown_before = db.execute(sql("generation_shown"), values).get
    # Going forward it is the news of the run that was held; going back it undoes the runs between.
    db.execute(sql("activation_insert"), {**values, "run": None if shown_before else run_id})
    db.execute(sql("activate"), values)
    db.execute(sql("generation_activated"), values)


def changes(db: apsw.Connection, source_id: int, from_generation: int, to_generation: int) -> list[Change]:
    before = _versions(db, source_id, at=from_generation, other=to_generation)
    after = _versions(db, source_id, at=to_generation, other=from_generation)
    found: list[Change] = []
    for ref_id in sorted(before | after, key=lambda ref: (before.get(ref) or after[ref])[0]):
        old, new = before.get(ref_id), after.get(ref_id)
        reference, url, title, _ = new or before[ref_id]
        added: tuple[str, ...] = ()
        removed: tuple[str, ...] = ()
        if old and new:
            old_paths, new_paths = _paths(db, old[3]), _paths(db, new[3])
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


def vacuum(db: apsw.Connection, floors: Mapping[int, int], everything: bool) -> Vacuumed:
    documents = handoffs = 0
    touched: set[int] = set()
    for source_id, floor in floors.items():
        values = {"source": source_id, "floor": floor}
        dead = [row[0] for row in db.execute(sql("vacuum_documents"), values)]
        done = [row[0] for row in db.execute(sql("vacuum_handoffs"), values)]
        db.execute(sql("vacuum_generations"), values)
        documents += len(dead)
        handoffs += len(done)
        touched.update(dead, done)
    if everything:
        touched.update(row[0] for row in db.execute(sql("contents_candidates")))
    contents = [row[0] for row in db.execute(sql("contents_unused"), (ids_parameter(touched),))]
    candidates = {row[0] for row in db.execute(sql("contents_passages"), (ids_parameter(contents),))}
    db.execute(sql("contents_delete"), (ids_parameter(contents),))
    if everything:
        candidates.update(row[0] for row in db.execute(sql("passages_candidates")))
    passages = [row[0] for row in db.execute(sql("passages_unused"), (ids_parameter(candidates),))]
    db.execute(sql("vectors_delete"), (ids_parameter(passages),))
    vectors = db.changes()
    db.execute(sql("fts_delete"), (ids_parameter(passages),))
    db.execute(sql("passages_delete"), (ids_parameter(passages),))
    return Vacuumed(
        documents=documents,
        contents=len(contents),
        passages=len(passages),
        vectors=vectors,
        handoffs=handoffs,
    )


def _versions(
    db: apsw.Connection, source_id: int, *, at: int, other: int
) -> dict[int, tuple[str, str, str, int]]:
    rows = db.execute(sql("versions_at"), {"source": source_id, "at": at, "other": other})
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}


def _paths(db: apsw.Connection, content_id: int) -> dict[int, str]:
    return dict(db.execute(sql("section_paths"), (content_id,)))
