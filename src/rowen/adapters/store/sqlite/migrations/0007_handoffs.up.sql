-- The durable record that a changed reference must be ingested. A step of its own, so that it can be taken back
-- alone: what that forgets is how items came in, never an item. Stores from before have the table.
CREATE TABLE IF NOT EXISTS handoffs (
  id            INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ref_id        INTEGER NOT NULL REFERENCES refs (id) ON DELETE CASCADE,
  payload_hash  BLOB NOT NULL,
  content_id    INTEGER NOT NULL REFERENCES contents (id),
  run_id        INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
  reason_code   TEXT NOT NULL,
  attempts      INTEGER NOT NULL DEFAULT 0,
  last_error    TEXT,
  url           TEXT NOT NULL,
  title         TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  content_type  TEXT NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  body_hash     BLOB,
  depth         INTEGER NOT NULL,
  links         BLOB NOT NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  UNIQUE (ref_id, payload_hash)
);
CREATE INDEX IF NOT EXISTS handoffs_by_generation ON handoffs (source_id, generation);
CREATE INDEX IF NOT EXISTS handoffs_by_status ON handoffs (source_id, status);
CREATE INDEX IF NOT EXISTS handoffs_by_content ON handoffs (content_id);
