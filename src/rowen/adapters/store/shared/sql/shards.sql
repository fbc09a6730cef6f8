-- name: question_insert
-- A page of a run for a worker to ask for.
INSERT INTO questions (run_id, host, asked) VALUES (:run, :host, :asked) RETURNING id;

-- name: batch_begin
-- The next batch of a host that no worker has; no row while one has it, and even then the host is locked.
INSERT INTO shard_turns (run_id, host, turn, out) VALUES (:run, :host, 1, true)
ON CONFLICT (run_id, host) DO UPDATE SET turn = shard_turns.turn + 1, out = true WHERE NOT shard_turns.out
RETURNING turn;

-- name: questions_again
-- What a host batch took and has not answered, for the worker that has its ticket now.
UPDATE questions SET attempts = attempts + 1
WHERE run_id = :run AND host = :host AND turn = :batch AND answer IS NULL
RETURNING id, asked, attempts;

-- name: questions_claim
-- The oldest questions that no host batch has taken.
UPDATE questions SET turn = :batch, attempts = attempts + 1
WHERE id IN (
  SELECT id FROM questions
  WHERE run_id = :run AND host = :host AND turn IS NULL AND answer IS NULL
  ORDER BY id LIMIT :limit
)
RETURNING id, asked, attempts;

-- name: question_waiting
-- The oldest question that no host batch has taken. By its order, so that the server does not look through all questions.
SELECT id FROM questions WHERE run_id = :run AND host = :host AND turn IS NULL AND answer IS NULL ORDER BY id LIMIT 1;

-- name: batch_move
-- The host batch that a worker has from now on. When none does (`out` is false) the number stays, so that it is not given again.
UPDATE shard_turns SET turn = :batch, out = :out WHERE run_id = :run AND host = :host;

-- name: batch_seize
-- The next batch of a host, also when a worker has the one before.
INSERT INTO shard_turns (run_id, host, turn, out) VALUES (:run, :host, 1, true)
ON CONFLICT (run_id, host) DO UPDATE SET turn = shard_turns.turn + 1, out = true
RETURNING turn;

-- name: questions_free
-- What host batches took and have not answered is free again.
UPDATE questions SET turn = NULL
WHERE run_id = :run AND host = :host AND turn IS NOT NULL AND answer IS NULL;

-- name: question_answer
-- The first answer stands.
UPDATE questions SET answer = :answer WHERE id = :question AND run_id = :run AND answer IS NULL;

-- name: answers_any
-- Was a page of a run answered? Also true when its lease has another owner: taking the answers then fails.
SELECT EXISTS (SELECT 1 FROM questions WHERE run_id = :run AND answer IS NOT NULL)
       OR NOT EXISTS (SELECT 1 FROM leases WHERE name = :name AND token = :token);

-- name: answers_take
-- Questions that were answered go with their answers.
DELETE FROM questions WHERE run_id = :run AND answer IS NOT NULL RETURNING id, answer;

-- name: batches_forget
-- A run's host batches go when it is over.
DELETE FROM shard_turns WHERE run_id = :run;

-- name: questions_forget
-- A run's questions go when it is over.
DELETE FROM questions WHERE run_id = :run;

-- name: shards_left
-- The runs of a source that asked workers for pages, and have not forgotten it yet.
SELECT DISTINCT t.run_id FROM shard_turns t JOIN runs r ON r.id = t.run_id WHERE r.source_id = :source;

-- name: batch_get
-- The last batch of a host, and whether a worker has it.
SELECT turn, out FROM shard_turns WHERE run_id = :run AND host = :host;
