-- name: document_places
-- A document from its first section to its last.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor, d.content_id, s.link_share, s.symbol, s.symbol_kind, p.heading_path,
       s.start_at, s.end_at, s.kept, s.heading, p.text
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN sections s ON s.content_id = d.content_id
JOIN passages p ON p.id = s.passage_id
WHERE d.id = :document ORDER BY s.position;

-- name: symbol_places
-- Where readers can see what is defined under these words.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor, d.content_id, s.link_share, s.symbol, s.symbol_kind, p.heading_path,
       s.start_at, s.end_at, s.kept, s.heading, p.text
FROM sections s
JOIN documents_active d ON d.content_id = s.content_id
JOIN refs r ON r.id = d.ref_id
JOIN passages p ON p.id = s.passage_id
WHERE s.symbol_words IN list(:names)

-- name: symbol_words
-- What symbols are looked up by.
SELECT DISTINCT symbol_words FROM sections
WHERE symbol_words IS NOT NULL AND length(symbol_words) BETWEEN :shortest AND :longest
UNION
SELECT words FROM inventory WHERE length(words) BETWEEN :shortest AND :longest;

-- name: search_begins
-- The pointers (see there), the number of a model, and how much is defined or listed under these words. Counted: for
-- `EXISTS`, PostgreSQL would read the table from its beginning.
SELECT coalesce((SELECT max(id) FROM activations), 0), coalesce((SELECT max(id) FROM removals), 0),
       (SELECT id FROM models WHERE name = :model AND digest = :digest AND dimensions = :dimensions),
       (SELECT count(*) FROM sections WHERE symbol_words IN list(:names)),
       (SELECT count(*) FROM inventory WHERE words IN list(:names));

-- name: pointers
-- What readers see changes when one of these does: the last activation, and the last removal of a source.
SELECT coalesce((SELECT max(id) FROM activations), 0), coalesce((SELECT max(id) FROM removals), 0);

-- name: sources_shown
-- Which generation of each source readers see.
SELECT id, kind, active_generation, created_at, name, location FROM sources;

-- name: source_documents_shown
-- The documents of a generation, each by its number and its birth: numbers may be given again.
SELECT id, born FROM documents
WHERE source_id = :source AND born <= :generation AND (died IS NULL OR died > :generation);

-- name: documents_to_show
-- What a search knows of documents before it shows one.
SELECT d.id, d.born, d.source_id, d.content_id, d.fetched_at, d.title, r.reference, s.kind
FROM documents d
JOIN refs r ON r.id = d.ref_id
JOIN sources s ON s.id = d.source_id
WHERE d.id IN list(:documents);

-- name: sections_to_show
-- What a search knows of the sections of documents before it shows one.
SELECT d.id, s.position, s.link_share, p.id, p.hash, p.heading_path
FROM documents d
JOIN sections s ON s.content_id = d.content_id
JOIN passages p ON p.id = s.passage_id
WHERE d.id IN list(:documents);

-- name: documents_shown
-- The documents readers see.
SELECT d.id FROM documents_active d WHERE true

-- name: places_in
-- Where these passages stand in these documents.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor, d.content_id, s.link_share, s.symbol, s.symbol_kind, p.heading_path,
       s.start_at, s.end_at, s.kept, s.heading, p.text
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN sections s ON s.content_id = d.content_id
JOIN passages p ON p.id = s.passage_id
WHERE d.id IN list(:documents) AND s.passage_id IN list(:passages);

-- name: vectors_last
-- The newest vector of a model.
SELECT id FROM vectors WHERE model_id = :model ORDER BY id DESC LIMIT 1;

-- name: vectors_after
-- Vectors of a model with the hashes of their texts, in the order they came.
SELECT p.hash, v.vector FROM vectors v JOIN passages p ON p.id = v.passage_id
WHERE v.model_id = :model AND v.id > :after ORDER BY v.id;

-- name: vectors_of
-- Vectors of these passages under a model, with the hashes of their texts.
SELECT p.hash, v.vector FROM vectors v JOIN passages p ON p.id = v.passage_id
WHERE v.model_id = :model AND v.passage_id IN list(:passages);

-- name: activation_at
-- When a generation was shown.
SELECT at FROM activations WHERE id = :activation;

-- name: passages_born
-- The passages of documents that a run has stored for its generation, with their hashes.
SELECT DISTINCT p.id, p.hash FROM documents d JOIN sections s ON s.content_id = d.content_id
JOIN passages p ON p.id = s.passage_id
WHERE d.source_id = :source AND d.born = :generation;

-- name: models_all
-- Every model that has vectors here.
SELECT id, name, digest, dimensions FROM models;
-- name: documents_proven
-- Which references these visible documents are of, when they were fetched, and what is known of their earlier versions.
SELECT d.id, d.source_id, r.reference, d.fetched_at, h.changes, h.changed_s, h.unchanged_s
FROM documents_active d JOIN refs r ON r.id = d.ref_id LEFT JOIN page_changes h ON h.ref_id = d.ref_id
WHERE d.id IN list(:documents);
