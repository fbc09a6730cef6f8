-- name: known
-- The visible versions of a source, as a run needs them.
SELECT d.id, d.ref_id, r.reference, c.hash, d.body_hash, d.payload_hash, d.etag, d.last_modified, d.depth, d.links,
       d.body_bytes
FROM sources s
JOIN documents d ON d.source_id = s.id AND d.born <= s.active_generation
     AND (d.died IS NULL OR d.died > s.active_generation)
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE s.id = :source
ORDER BY d.depth, d.ref_id;

-- name: known_among
-- The same for these references only.
SELECT d.id, d.ref_id, r.reference, c.hash, d.body_hash, d.payload_hash, d.etag, d.last_modified, d.depth, d.links,
       d.body_bytes
FROM refs r
JOIN sources s ON s.id = r.source_id
JOIN documents d ON d.ref_id = r.id AND d.born <= s.active_generation
     AND (d.died IS NULL OR d.died > s.active_generation)
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys);

-- name: leftovers
-- Versions beyond the active generation that were handed off, as drafts or as documents no reader has seen; the newest
-- of each reference last.
SELECT h.ref_id, r.reference, c.hash, coalesce(w.body_hash, d.body_hash), h.payload_hash, coalesce(w.etag, d.etag),
       coalesce(w.last_modified, d.last_modified), coalesce(w.depth, d.depth), coalesce(w.links, d.links),
       coalesce(w.body_bytes, d.body_bytes)
FROM handoffs h
JOIN refs r ON r.id = h.ref_id
JOIN contents c ON c.id = h.content_id
LEFT JOIN drafts w ON w.handoff_id = h.id
LEFT JOIN documents d ON w.handoff_id IS NULL AND d.ref_id = h.ref_id AND d.payload_hash = h.payload_hash AND d.born = h.generation
WHERE h.source_id = :source AND h.content_id IS NOT NULL AND (w.handoff_id IS NOT NULL OR d.id IS NOT NULL)
  AND h.generation > (SELECT active_generation FROM sources WHERE id = :source)
ORDER BY h.updated_at, h.id;

-- name: leftovers_among
-- Versions beyond the active generation of these references.
SELECT h.ref_id, r.reference, c.hash, coalesce(w.body_hash, d.body_hash), h.payload_hash, coalesce(w.etag, d.etag),
       coalesce(w.last_modified, d.last_modified), coalesce(w.depth, d.depth), coalesce(w.links, d.links),
       coalesce(w.body_bytes, d.body_bytes)
FROM refs r
JOIN handoffs h ON h.ref_id = r.id
JOIN contents c ON c.id = h.content_id
LEFT JOIN drafts w ON w.handoff_id = h.id
LEFT JOIN documents d ON w.handoff_id IS NULL AND d.ref_id = h.ref_id AND d.payload_hash = h.payload_hash AND d.born = h.generation
WHERE r.source_id = :source AND r.reference IN keys(:keys) AND (w.handoff_id IS NOT NULL OR d.id IS NOT NULL)
  AND h.generation > (SELECT active_generation FROM sources WHERE id = :source)
ORDER BY h.updated_at, h.id;

-- name: visible_references
-- What readers see, a page at a time in the order of references.
SELECT r.reference
FROM refs r
JOIN sources s ON s.id = r.source_id
WHERE r.source_id = :source AND r.reference > :after
  AND EXISTS (SELECT 1 FROM documents d WHERE d.ref_id = r.id AND d.born <= s.active_generation
              AND (d.died IS NULL OR d.died > s.active_generation))
ORDER BY r.reference LIMIT :limit;

-- name: metadata_by_source
-- The metadata of what readers see.
SELECT r.reference, text_of(d.metadata) FROM documents_active d JOIN refs r ON r.id = d.ref_id WHERE d.source_id = :source;

-- name: refs_by_source
-- Every address ever met in a source.
SELECT id, reference, alias_of FROM refs WHERE source_id = :source;

-- name: aliases_of
-- The other names of a document's reference.
SELECT a.reference FROM documents d JOIN refs a ON a.alias_of = d.ref_id WHERE d.id = :document;

-- name: linked
-- Addresses by their ids, each with the document that readers see there.
SELECT r.id, r.reference, d.id, d.title
FROM refs r LEFT JOIN documents_active d ON d.ref_id = r.id WHERE r.id IN list(:refs);

-- name: ref_alias
-- Another name of a reference.
UPDATE refs SET alias_of = :of WHERE id = :ref;

-- name: listings_by_source
-- Remembered listings.
SELECT url, etag, last_modified, payload FROM listings WHERE source_id = :source;

-- name: documents_unborn
-- Versions of these references that were to be born at a generation.
DELETE FROM documents WHERE source_id = :source AND born = :generation AND ref_id IN list(:refs);

-- name: documents_retire
-- What is visible of these references dies at a generation.
UPDATE documents SET died = :generation WHERE source_id = :source AND died IS NULL AND ref_id IN list(:refs);

-- name: document_refresh
-- New validators for the same text.
UPDATE documents SET etag = :etag, last_modified = :last_modified, body_hash = :body_hash,
       body_bytes = :body_bytes, links = coalesce(:links, links)
WHERE id = :document;

-- name: inventory_names
-- What a site said it documents.
SELECT id, name, kind, page, anchor FROM inventory WHERE source_id = :source;

-- name: inventory_forget
-- Names that a site documents no more.
DELETE FROM inventory WHERE id IN list(:ids);

-- name: living_after
-- What readers will see of a source when the run under way ends well, from a reference on.
SELECT d.ref_id, r.reference, d.url, d.title, text_of(c.text), c.hash, d.body_hash, d.etag, d.last_modified, d.content_type,
       d.depth, d.links, text_of(d.metadata), d.body_bytes
FROM documents d
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE d.source_id = :source AND d.died IS NULL AND d.ref_id > :after ORDER BY d.ref_id LIMIT :limit;

-- name: living_among
-- The same of some references.
SELECT d.ref_id, r.reference, d.url, d.title, text_of(c.text), c.hash, d.body_hash, d.etag, d.last_modified, d.content_type,
       d.depth, d.links, text_of(d.metadata), d.body_bytes
FROM documents d
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE d.source_id = :source AND d.died IS NULL AND d.ref_id IN list(:refs) ORDER BY d.ref_id LIMIT :limit;
