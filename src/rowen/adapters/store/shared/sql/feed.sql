-- name: documents_page
-- What readers see of a source, a page at a time in the order of references.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, text_of(d.metadata), d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, CASE WHEN :text THEN text_of(c.text) END
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference > :after
ORDER BY r.reference LIMIT :limit;

-- name: document_by_id
-- One document that readers see, with its text.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, text_of(d.metadata), d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, text_of(c.text)
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE d.id = :document;

-- name: documents_alike
-- Other documents that readers see with the same text.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, text_of(d.metadata), d.content_type, c.hash,
       d.generation, d.born, d.fetched_at
FROM documents one
JOIN documents_active d ON d.content_id = one.content_id AND d.id <> one.id
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE one.id = :document
ORDER BY d.source, d.version, r.reference LIMIT :limit;

-- name: references_seen
-- The references of what readers see.
SELECT r.reference FROM documents_active d JOIN refs r ON r.id = d.ref_id WHERE d.source_id = :source;

-- name: activation_next
-- The first activation from a number on.
SELECT a.id, a.source_id, CASE WHEN s.version = '' THEN s.name ELSE s.name || '@' || s.version END, s.kind,
       a.generation, a.previous, a.run_id, a.at
FROM activations a JOIN sources s ON s.id = a.source_id
WHERE a.id >= :first AND (:everywhere OR a.source_id IN list(:sources))
ORDER BY a.id LIMIT 1;

-- name: removals_from
-- Sources that were removed, from a number of the feed on.
SELECT id, CASE WHEN version = '' THEN name ELSE name || '@' || version END, kind, generation, at
FROM removals WHERE id >= :first ORDER BY id;

-- name: removal_insert
-- A source is about to be removed; of a label that had one before, the last removal is told.
INSERT INTO removals (id, name, version, kind, generation, at)
SELECT :number, name, version, kind, active_generation, :now FROM sources WHERE id = :source
ON CONFLICT (name, version) DO UPDATE SET
  id = excluded.id, kind = excluded.kind, generation = excluded.generation, at = excluded.at;

-- name: activation_newest
-- The last number of the feed.
SELECT max(id) FROM (SELECT max(id) AS id FROM activations UNION ALL SELECT max(id) FROM removals) AS numbers;

-- name: sinks_all
-- Every sink and how far it has come.
SELECT name, kind, settings, activation, item, state, last_run_at, last_success_at, last_error, failures
FROM sinks ORDER BY name;

-- name: sink_save
-- A sink; one that is known keeps its place, unless it became another kind of sink.
INSERT INTO sinks (name, kind, settings, activation, item)
VALUES (:name, :kind, :settings, :activation, :item)
ON CONFLICT (name) DO UPDATE SET
  settings = excluded.settings,
  activation = CASE WHEN sinks.kind = excluded.kind THEN sinks.activation ELSE excluded.activation END,
  item = CASE WHEN sinks.kind = excluded.kind THEN sinks.item ELSE excluded.item END,
  state = CASE WHEN sinks.kind = excluded.kind THEN sinks.state ELSE '{}' END,
  kind = excluded.kind;

-- name: sink_delete
-- A sink that gets nothing any more.
DELETE FROM sinks WHERE name = :name;

-- name: sink_move
-- How an attempt to send went.
UPDATE sinks SET
  activation = coalesce(:activation, activation), item = coalesce(:item, item), state = coalesce(:state, state),
  last_run_at = :now, last_error = :error,
  last_success_at = CASE WHEN CAST(:error AS text) IS NULL THEN :now ELSE last_success_at END,
  failures = CASE WHEN CAST(:error AS text) IS NULL THEN 0 ELSE failures + 1 END
WHERE name = :name;

-- name: touched_by_run
-- What a run changed for readers.
SELECT id, reference, outcome, detail FROM run_items
WHERE run_id = :run AND id > :after AND outcome IN ('created', 'updated', 'metadata_updated', 'deleted', 'skipped')
ORDER BY id LIMIT :limit;

-- name: touched_between
-- What the runs between two generations had changed: a rollback changes it back.
SELECT i.id, i.reference, 'changed', CASE WHEN i.outcome IN ('updated', 'metadata_updated') THEN i.detail END FROM run_items i JOIN runs r ON r.id = i.run_id
WHERE r.source_id = :source AND r.generation > :low AND r.generation <= :high
  AND i.id > :after AND i.outcome IN ('created', 'updated', 'metadata_updated', 'deleted', 'skipped')
ORDER BY i.id LIMIT :limit;

-- name: documents_among
-- What readers see of these references.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, text_of(d.metadata), d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, CASE WHEN :text THEN text_of(c.text) END
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys)
ORDER BY r.reference;
