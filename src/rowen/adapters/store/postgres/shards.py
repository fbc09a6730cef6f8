"""Pages that workers ask for, in PostgreSQL: questions, turns and answers.

Each function is one unit of work on an open transaction. Whoever decides about a turn has locked its host's
row before it looks at the questions, in a statement of its own: a statement sees what was committed before it
began, not before its lock was granted. So of a question and the end of a turn at the same moment, one waits:
the end of the turn and then sees the question, or the question and then sees that nobody is on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from rowen.adapters.store.postgres import engine
from rowen.adapters.store.postgres.leases import fence
from rowen.adapters.store.postgres.transaction import Transaction
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.store.shards import FETCH, FETCH_PRIORITY, Question, fetch_payload


def ask_pages(
    db: Transaction,
    held: Lease,
    run: Run,
    host: str,
    questions: Sequence[Mapping[str, Any]],
    now: datetime,
) -> list[int]:
    fence(db, held)
    if not questions:
        return []
    ids = db.insert_many(
        "question_insert",
        [{"run": run.id, "host": host, "asked": orjson.dumps(asked)} for asked in questions],
    )
    turn = db.value("turn_begin", run=run.id, host=host)
    if turn is not None:
        _send(db, held, run, host, turn)
    return ids


def take_pages(db: Transaction, held: Lease, run: Run, host: str, turn: int, limit: int) -> list[Question]:
    fence(db, held)
    # Before what the turn took is looked at, too: who seizes the host at this moment frees just that.
    out = _is_out(db, run, host, turn)
    rows = db.rows("questions_again", run=run.id, host=host, turn=turn)
    if out and not rows:
        rows = db.rows("questions_claim", run=run.id, host=host, turn=turn, limit=limit)
    return [Question(row[0], orjson.loads(row[1]), row[2]) for row in sorted(rows)]


def pass_turn(db: Transaction, held: Lease, run: Run, host: str, turn: int, now: datetime) -> None:
    fence(db, held)
    if not _is_out(db, run, host, turn):
        return
    wait = db.value("question_waiting", run=run.id, host=host) is not None
    following = turn + 1 if wait else turn
    db.write("turn_move", run=run.id, host=host, turn=following, out=wait)
    if wait:
        _send(db, held, run, host, following)


def seize_turn(db: Transaction, held: Lease, run: Run, host: str, begun: bool) -> int:
    fence(db, held)
    turn: int = db.value("turn_seize", run=run.id, host=host)
    if begun:
        db.write("questions_free", run=run.id, host=host)
    return turn


def answer_pages(db: Transaction, held: Lease, run: Run, answers: Mapping[int, Mapping[str, Any]]) -> None:
    fence(db, held)
    # In one order, whoever answers: two who answer the same questions then wait for each other, and no more.
    db.write_many(
        "question_answer",
        [
            {"run": run.id, "question": question, "answer": orjson.dumps(answer)}
            for question, answer in sorted(answers.items(), key=lambda one: one[0])
        ],
    )


def take_answers(db: Transaction, held: Lease, run: Run) -> dict[int, dict[str, Any]]:
    fence(db, held)
    rows = db.rows("answers_take", run=run.id)
    return {question: orjson.loads(answer) for question, answer in sorted(rows)}


def forget(db: Transaction, run_id: int) -> None:
    """A run is over: its turns, questions, answers and tickets go.

    The turns first: a turn that is being passed on is waited for, and then its ticket is there to be seen.
    """
    db.write("turns_forget", run=run_id)
    db.write("questions_forget", run=run_id)
    db.write("tickets_forget", task=FETCH, run=run_id)


def forget_source(db: Transaction, source_id: int) -> None:
    """No run of this source is under way: what was left by one that is gone goes."""
    for (run_id,) in db.rows("shards_left", source=source_id):
        forget(db, run_id)


def _is_out(db: Transaction, run: Run, host: str, turn: int) -> bool:
    """Is this the host's last turn, and was it not passed on? Both stay so until the transaction ends."""
    found = db.row("turn_lock", run=run.id, host=host)
    return found is not None and found[0] == turn and bool(found[1])


def _send(db: Transaction, held: Lease, run: Run, host: str, turn: int) -> None:
    payload = fetch_payload(held, run, host, turn)
    engine.submit(db.connection, db.schema, FETCH, [payload], priority=FETCH_PRIORITY)
