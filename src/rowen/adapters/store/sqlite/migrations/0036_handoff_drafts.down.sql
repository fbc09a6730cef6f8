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
  retry_at      TEXT, body_bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE (ref_id, payload_hash)
);
INSERT INTO handoffs (id, source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, attempts, last_error,
       url, title, metadata, content_type, etag, last_modified, body_hash, body_bytes, depth, links,
       created_at, updated_at, retry_at)
SELECT h.id, h.source_id, h.ref_id, h.payload_hash, h.content_id, h.run_id, h.generation, h.status, h.reason_code, h.attempts, h.last_error,
       coalesce(w.url, d.url, ''), coalesce(w.title, d.title, ''), text_of(coalesce(w.metadata, d.metadata, '{}')),
       coalesce(w.content_type, d.content_type, ''), coalesce(w.etag, d.etag), coalesce(w.last_modified, d.last_modified),
       coalesce(w.body_hash, d.body_hash), coalesce(w.body_bytes, d.body_bytes, 0), coalesce(w.depth, d.depth, 0),
       coalesce(w.links, d.links, x''), h.created_at, h.updated_at, h.retry_at
FROM handoffs_before h
LEFT JOIN drafts w ON w.handoff_id = h.id
LEFT JOIN documents d ON d.id = (SELECT max(n.id) FROM documents n
                                 WHERE n.ref_id = h.ref_id AND n.payload_hash = h.payload_hash);
-- Without either, nothing is known of it but that it was.
UPDATE handoffs SET content_id = NULL WHERE url = '' AND title = '' AND content_type = '';
DROP TABLE drafts;
DROP TABLE handoffs_before;
CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation) WHERE content_id IS NOT NULL;
CREATE INDEX handoffs_by_status ON handoffs (source_id, status, updated_at);
CREATE INDEX handoffs_by_content ON handoffs (content_id);
CREATE INDEX handoffs_by_retry ON handoffs (source_id, retry_at) WHERE retry_at IS NOT NULL;
