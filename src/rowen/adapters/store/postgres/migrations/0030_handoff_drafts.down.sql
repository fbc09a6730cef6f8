ALTER TABLE handoffs
  ADD COLUMN url text NOT NULL DEFAULT '',
  ADD COLUMN title text NOT NULL DEFAULT '',
  ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN content_type text NOT NULL DEFAULT '',
  ADD COLUMN etag text,
  ADD COLUMN last_modified text,
  ADD COLUMN body_hash bytea,
  ADD COLUMN body_bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN depth integer NOT NULL DEFAULT 0,
  ADD COLUMN links bytea NOT NULL DEFAULT '';
UPDATE handoffs h SET
  url = d.url, title = d.title, metadata = d.metadata, content_type = d.content_type, etag = d.etag, last_modified = d.last_modified, body_hash = d.body_hash, body_bytes = d.body_bytes, depth = d.depth, links = d.links
FROM documents d
WHERE d.id = (SELECT max(n.id) FROM documents n WHERE n.ref_id = h.ref_id AND n.payload_hash = h.payload_hash);
UPDATE handoffs h SET
  url = w.url, title = w.title, metadata = w.metadata, content_type = w.content_type, etag = w.etag, last_modified = w.last_modified, body_hash = w.body_hash, body_bytes = w.body_bytes, depth = w.depth, links = w.links
FROM drafts w WHERE w.handoff_id = h.id;
-- Without either, nothing is known of it but that it was.
UPDATE handoffs SET content_id = NULL WHERE url = '' AND title = '' AND content_type = '';
ALTER TABLE handoffs
  ALTER COLUMN url DROP DEFAULT,
  ALTER COLUMN title DROP DEFAULT,
  ALTER COLUMN metadata DROP DEFAULT,
  ALTER COLUMN content_type DROP DEFAULT,
  ALTER COLUMN depth DROP DEFAULT,
  ALTER COLUMN links DROP DEFAULT;
DROP TABLE drafts;
