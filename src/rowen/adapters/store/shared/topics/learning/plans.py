"""Answers that were fetched for a plan: compressed, and gone after a day."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import datetime

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import Json, json_in
from rowen.ports.store.learning.plans import KeptAnswer

LEVEL = 2


class Plans(Topic):
    @writes
    def keep_answers(
        self,
        db: Transaction,
        plan: str,
        source_id: int,
        answers: Mapping[bytes, KeptAnswer],
        *,
        now: datetime,
    ) -> None:
        db.write_many(
            "planned_answer_save",
            [
                {
                    "plan": plan,
                    "key": key,
                    "source": source_id,
                    "now": now,
                    "answer": Json({"status": one.status, "url": one.url, "headers": dict(one.headers)}),
                    "body": zlib.compress(one.body, LEVEL),
                }
                for key, one in answers.items()
            ],
        )

    @reads
    def kept_answer(self, db: Transaction, plan: str, key: bytes) -> KeptAnswer | None:
        row = db.row("planned_answer", plan=plan, key=key)
        if row is None:
            return None
        answer = json_in(row[0])
        return KeptAnswer(
            status=answer["status"],
            url=answer["url"],
            headers=answer["headers"],
            body=zlib.decompress(row[1]),
        )

    @writes
    def forget_answers(
        self,
        db: Transaction,
        *,
        source_id: int | None = None,
        but: str = "",
        before: datetime | None = None,
    ) -> int:
        gone = 0
        if source_id is not None:
            gone += db.write("planned_answers_of_source_delete", source=source_id, plan=but)
        if before is not None:
            gone += db.write("planned_answers_old_delete", before=before)
        return gone
