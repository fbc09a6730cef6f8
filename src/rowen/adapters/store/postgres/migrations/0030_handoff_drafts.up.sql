-- What a handoff is to make a document of waits in a table of its own, and goes when the document is there. Such a row
-- stood in the store twice for ever.
-- A store whose handoffs were taken down alone may have it still: nothing can be made of it without them.
DROP TABLE IF EXISTS drafts;
CREATE TABLE drafts (
  handoff_id    bigint PRIMARY KEY REFERENCES handoffs (id) ON DELETE CASCADE,
  url           text NOT NULL,
  title         text NOT NULL,
  metadata      jsonb NOT NULL,
  content_type  text NOT NULL,
  etag          text,
  last_modified text,
  body_hash     bytea,
  body_bytes    bigint NOT NULL,
  depth         integer NOT NULL,
  links         bytea NOT NULL
);
INSERT INTO drafts (handoff_id, url, title, metadata, content_type, etag, last_modified, body_hash, body_bytes, depth, links)
SELECT h.id, h.url, h.title, h.metadata, h.content_type, h.etag, h.last_modified, h.body_hash, h.body_bytes, h.depth, h.links
FROM handoffs h
WHERE h.content_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.ref_id = h.ref_id AND d.payload_hash = h.payload_hash);
ALTER TABLE handoffs
  DROP COLUMN url,
  DROP COLUMN title,
  DROP COLUMN metadata,
  DROP COLUMN content_type,
  DROP COLUMN etag,
  DROP COLUMN last_modified,
  DROP COLUMN body_hash,
  DROP COLUMN body_bytes,
  DROP COLUMN depth,
  DROP COLUMN links;
