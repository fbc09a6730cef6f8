"""Pages that workers ask for, in SQLite: questions, turns and answers.

Each function is one unit of work on an open transaction. There is one writer at a time, so whoever looks at
a turn may act on what it saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw
import orjson

from rowen.adapters.store.sqlite import jobs
from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.store.shards import FETCH, FETCH_PRIORITY, Question, fetch_payload


def ask_pages(
    db: apsw.Connection,
    held: Lease,
    run: Run,
    host: str,
    questions: Sequence[Mapping[str, Any]],
    now: datetime,
) -> list[int]:
    fence(db, held)
    if not questions:
        return []
    place = {"run": run.id, "host": host}
    ids = [
        db.execute(sql("question_insert"), {**place, "asked": orjson.dumps(asked)}).get for asked in questions
    ]
    turn = db.execute(sql("turn_begin"), place).get
    if turn is not None:
        _send(db, held, run, host, turn, now)
    return ids


def take_pages(
    db: apsw.Connection, held: Lease, run: Run, host: str, turn: int, limit: int
) -> list[Question]:
    fence(db, held)
    values = {"run": run.id, "host": host, "turn": turn}
    rows: list[Any] = db.execute(sql("questions_again"), values).fetchall()
    if not rows and _is_out(db, run, host, turn):
        rows = db.execute(sql("questions_claim"), {**values, "limit": limit}).fetchall()
    return [Question(row[0], orjson.loads(row[1]), row[2]) for row in sorted(rows)]


def pass_turn(db: apsw.Connection, held: Lease, run: Run, host: str, turn: int, now: datetime) -> None:
    fence(db, held)
    if not _is_out(db, run, host, turn):
        return
    place = {"run": run.id, "host": host}
    wait = db.execute(sql("question_waiting"), place).get is not None
    following = turn + 1 if wait else turn
    db.execute(sql("turn_move"), {**place, "turn": following, "out": wait})
    if wait:
        _send(db, held, run, host, following, now)


def seize_turn(db: apsw.Connection, held: Lease, run: Run, host: str, begun: bool) -> int:
    fence(db, held)
    place = {"run": run.id, "host": host}
    turn: int = db.execute(sql("turn_seize"), place).get
    if begun:
        db.execute(sql("questions_free"), place)
    return turn


def answer_pages(
    db: apsw.Connection, held: Lease, run: Run, answers: Mapping[int, Mapping[str, Any]]
) -> None:
    fence(db, held)
    db.executemany(
        sql("question_answer"),
        (
            {"run": run.id, "question": question, "answer": orjson.dumps(answer)}
            for question, answer in answers.items()
        ),
    )


def has_answers(db: apsw.Connection, held: Lease, run: Run) -> bool:
    fence(db, held)
    return bool(db.execute(sql("answers_any"), (run.id,)).get)


def take_answers(db: apsw.Connection, held: Lease, run: Run) -> dict[int, dict[str, Any]]:
    fence(db, held)
    rows: list[Any] = db.execute(sql("answers_take"), (run.id,)).fetchall()
    return {question: orjson.loads(answer) for question, answer in sorted(rows)}


def forget(db: apsw.Connection, run_id: int) -> None:
    """A run is over: its turns, questions, answers and tickets go."""
    db.execute(sql("turns_forget"), (run_id,))
    db.execute(sql("questions_forget"), (run_id,))
    jobs.forget(db, FETCH, run_id)


def forget_source(db: apsw.Connection, source_id: int) -> None:
    """No run of this source is under way: what was left by one that is gone goes."""
    left: list[Any] = db.execute(sql("shards_left"), (source_id,)).fetchall()
    for (run_id,) in left:
        forget(db, run_id)


def _is_out(db: apsw.Connection, run: Run, host: str, turn: int) -> bool:
    """Is this the host's last turn, and was it not passed on?"""
    found = db.execute(sql("turn_get"), {"run": run.id, "host": host}).get
    return found is not None and found[0] == turn and bool(found[1])


def _send(db: apsw.Connection, held: Lease, run: Run, host: str, turn: int, now: datetime) -> None:
    jobs.submit(db, FETCH, [fetch_payload(held, run, host, turn)], now, FETCH_PRIORITY)
