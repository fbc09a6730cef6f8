ALTER TABLE handoffs RENAME TO handoffs_before;
CREATE TABLE handoffs (
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
INSERT INTO handoffs (id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts,
       last_error, url, title, metadata, content_type, etag, last_modified, body_hash, depth, links, created_at,
       updated_at)
SELECT id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts,
       last_error, url, title, metadata, content_type, etag, last_modified, body_hash, depth, links, created_at,
       updated_at
FROM handoffs_before WHERE content_id IS NOT NULL;
DROP TABLE handoffs_before;
CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation);
CREATE INDEX handoffs_by_status ON handoffs (source_id, status);
CREATE INDEX handoffs_by_content ON handoffs (content_id);
