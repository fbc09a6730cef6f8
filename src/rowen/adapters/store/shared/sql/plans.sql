-- name: planned_answer_save
-- What a source answered to a question of a plan.
INSERT INTO planned_answers (plan, key, source_id, at, answer, body)
VALUES (:plan, :key, :source, :now, :answer, :body)
ON CONFLICT (plan, key) DO UPDATE SET at = excluded.at, answer = excluded.answer, body = excluded.body;

-- name: planned_answer
-- The same, for who asks again.
SELECT answer, body FROM planned_answers WHERE plan = :plan AND key = :key;

-- name: planned_answers_of_source_delete
-- Answers for the plans of a source, but for one plan.
DELETE FROM planned_answers WHERE source_id = :source AND plan <> :plan;

-- name: planned_answers_old_delete
-- Answers that were kept before a moment.
DELETE FROM planned_answers WHERE at < :before;
