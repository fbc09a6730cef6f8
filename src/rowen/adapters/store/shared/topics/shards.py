"""Pages of one crawl that workers ask for: questions, batches and answers.

A unit that decides about a host batch has locked its host's row before it looks at the questions, in a
statement of its own: a statement sees what was committed before it began, not before its lock was granted. So
of a question and the end of a batch at the same moment, one waits: the end of the batch and then sees the
question, or the question and then sees that no worker is on the way. (SQLite has one writer at a time; it
needs no lock.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.transaction import Transaction
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.store.shards import FETCH, FETCH_PRIORITY, Question, fetch_payload


class Shards(Topic):
    @writes
    def ask_pages(
        self,
        db: Transaction,
        lease: Lease,
        run: Run,
        host: str,
        questions: Sequence[Mapping[str, Any]],
        *,
        now: datetime,
    ) -> list[int]:
        fence(db, lease)
        if not questions:
            return []
        asked = [{"run": run.id, "host": host, "asked": orjson.dumps(one)} for one in questions]
        ids = db.insert_many("question_insert", asked)
        batch = db.value("batch_begin", run=run.id, host=host)
        if batch is not None:
            _send(db, lease, run, host, batch, now)
        return ids

    @writes
    def take_pages(
        self, db: Transaction, lease: Lease, run: Run, host: str, batch: int, *, limit: int
    ) -> list[Question]:
        fence(db, lease)
        # Locked before what the batch took is read, too: a run that seizes the host now frees just that.
        out = _is_out(db, run, host, batch)
        rows = db.rows("questions_again", run=run.id, host=host, batch=batch)
        if out and not rows:
            rows = db.rows("questions_claim", run=run.id, host=host, batch=batch, limit=limit)
        return [Question(row[0], orjson.loads(row[1]), row[2]) for row in sorted(rows)]

    @writes
    def pass_batch(
        self, db: Transaction, lease: Lease, run: Run, host: str, batch: int, *, now: datetime
    ) -> None:
        fence(db, lease)
        if not _is_out(db, run, host, batch):
            return
        wait = db.value("question_waiting", run=run.id, host=host) is not None
        following = batch + 1 if wait else batch
        db.write("batch_move", run=run.id, host=host, batch=following, out=wait)
        if wait:
            _send(db, lease, run, host, following, now)

    @writes
    def seize_batch(self, db: Transaction, lease: Lease, run: Run, host: str, *, begun: bool) -> int:
        fence(db, lease)
        batch: int = db.value("batch_seize", run=run.id, host=host)
        if begun:
            db.write("questions_free", run=run.id, host=host)
        return batch

    @writes
    def answer_pages(
        self, db: Transaction, lease: Lease, run: Run, answers: Mapping[int, Mapping[str, Any]]
    ) -> None:
        fence(db, lease)
        # In one order for all workers: two that answer the same questions wait for each other once.
        db.write_many(
            "question_answer",
            [
                {"run": run.id, "question": question, "answer": orjson.dumps(answer)}
                for question, answer in sorted(answers.items(), key=lambda one: one[0])
            ],
        )

    async def take_answers(self, lease: Lease, run: Run) -> dict[int, dict[str, Any]]:
        # A run that waits for answers asks often; a read does not keep others from writing.
        if not await self._has_answers(lease, run):
            return {}
        return await self._take_answers(lease, run)

    @reads
    def _has_answers(self, db: Transaction, lease: Lease, run: Run) -> bool:
        return bool(db.value("answers_any", run=run.id, name=lease.name, token=lease.token))

    @writes
    def _take_answers(self, db: Transaction, lease: Lease, run: Run) -> dict[int, dict[str, Any]]:
        fence(db, lease)
        rows = db.rows("answers_take", run=run.id)
        return {question: orjson.loads(answer) for question, answer in sorted(rows)}


def forget(db: Transaction, run_id: int) -> None:
    """A run is over: its batches, questions, answers and tickets go.

    The batches first: a batch that is being passed on is waited for, and then its ticket is there to be seen.
    """
    db.write("batches_forget", run=run_id)
    db.write("questions_forget", run=run_id)
    db.write("tickets_forget", task=FETCH, run=run_id)


def forget_source(db: Transaction, source_id: int) -> None:
    """No run of this source is under way: what is left of an earlier one goes."""
    for (run_id,) in db.rows("shards_left", source=source_id):
        forget(db, run_id)


def _is_out(db: Transaction, run: Run, host: str, batch: int) -> bool:
    """Is this the host's last batch, and was it not passed on? Both stay so until the transaction ends."""
    found = db.row("batch_get", run=run.id, host=host)
    return found is not None and found[0] == batch and bool(found[1])


def _send(db: Transaction, lease: Lease, run: Run, host: str, batch: int, now: datetime) -> None:
    payload = fetch_payload(lease, run, host, batch)
    db.submit(FETCH, [payload], now=now, priority=FETCH_PRIORITY)
