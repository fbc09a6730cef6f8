-- Times of handoffs are numbers, microseconds since 1970, in place of 32 characters each. The beginning of a payload's hash
-- tells those of one reference apart. What is vacuumed is found by its time, and what a run left unfinished is in an index of
-- such alone: a query uses it that repeats its condition.
PRAGMA legacy_alter_table = ON;
ALTER TABLE handoffs RENAME TO handoffs_before;
CREATE TABLE handoffs (
  id            INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ref_id        INTEGER NOT NULL REFERENCES refs (id) ON DELETE CASCADE,
  payload_hash  BLOB NOT NULL,
  content_id    INTEGER REFERENCES contents (id),
  run_id        INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
  reason_code   TEXT NOT NULL,
  attempts      INTEGER NOT NULL DEFAULT 0,
  last_error    TEXT,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  retry_at      INTEGER
);
INSERT INTO handoffs (id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts, last_error,
       created_at, updated_at, retry_at)
SELECT id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts, last_error,
       moment(created_at), moment(updated_at), moment(retry_at)
FROM handoffs_before ORDER BY id;
DROP TABLE handoffs_before;
PRAGMA legacy_alter_table = OFF;
CREATE UNIQUE INDEX handoffs_by_payload ON handoffs (ref_id, substr(payload_hash, 1, 12));
CREATE INDEX handoffs_by_update ON handoffs (source_id, updated_at);
CREATE INDEX handoffs_unfinished ON handoffs (source_id) WHERE status IN ('queued', 'running');
CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation) WHERE content_id IS NOT NULL;
CREATE INDEX handoffs_by_content ON handoffs (content_id);
CREATE INDEX handoffs_by_retry ON handoffs (source_id, retry_at) WHERE retry_at IS NOT NULL;
