-- name: document_places
-- A document from its first section to its last.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor, d.content_id, s.link_share, s.symbol, s.symbol_kind
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN sections s ON s.content_id = d.content_id
WHERE d.id = :document ORDER BY s.position;

-- name: places
-- Where readers can see these passages.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor, d.content_id, s.link_share, s.symbol, s.symbol_kind
FROM sections s
JOIN documents_active d ON d.content_id = s.content_id
JOIN refs r ON r.id = d.ref_id
WHERE s.passage_id IN list(:passages)

-- name: passage_texts
-- What these passages say.
SELECT id, heading_path, text FROM passages WHERE id IN list(:ids);

-- name: symbol_places
-- Where readers can see what is defined under these words.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor, d.content_id, s.link_share, s.symbol, s.symbol_kind
FROM sections s
JOIN documents_active d ON d.content_id = s.content_id
JOIN refs r ON r.id = d.ref_id
WHERE s.symbol_words IN list(:names)

-- name: symbol_words
-- What symbols are looked up by.
SELECT DISTINCT symbol_words FROM sections
WHERE symbol_words IS NOT NULL AND length(symbol_words) BETWEEN :shortest AND :longest
UNION
SELECT words FROM inventory WHERE length(words) BETWEEN :shortest AND :longest;
