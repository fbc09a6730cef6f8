-- What a handoff is to make a document of waits in a table of its own, and goes when the document is there. Such a row
-- stood in the store twice for ever. SQLite gives the room of whole rows back, and not that of shorter ones.
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
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  retry_at      TEXT,
  UNIQUE (ref_id, payload_hash)
);
INSERT INTO handoffs (id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts, last_error,
       created_at, updated_at, retry_at)
SELECT id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts, last_error,
       created_at, updated_at, retry_at
FROM handoffs_before;
-- A store whose handoffs were taken down alone may have it still: nothing can be made of it without them.
DROP TABLE IF EXISTS drafts;
CREATE TABLE drafts (
  handoff_id    INTEGER PRIMARY KEY REFERENCES handoffs (id) ON DELETE CASCADE,
  url           TEXT NOT NULL,
  title         TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  content_type  TEXT NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  body_hash     BLOB,
  body_bytes    INTEGER NOT NULL,
  depth         INTEGER NOT NULL,
  links         BLOB NOT NULL
);
INSERT INTO drafts (handoff_id, url, title, metadata, content_type, etag, last_modified, body_hash, body_bytes, depth, links)
SELECT h.id, h.url, h.title, h.metadata, h.content_type, h.etag, h.last_modified, h.body_hash, h.body_bytes, h.depth, h.links
FROM handoffs_before h
WHERE h.content_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.ref_id = h.ref_id AND d.payload_hash = h.payload_hash);
DROP TABLE handoffs_before;
CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation) WHERE content_id IS NOT NULL;
CREATE INDEX handoffs_by_status ON handoffs (source_id, status, updated_at);
CREATE INDEX handoffs_by_content ON handoffs (content_id);
CREATE INDEX handoffs_by_retry ON handoffs (source_id, retry_at) WHERE retry_at IS NOT NULL;
