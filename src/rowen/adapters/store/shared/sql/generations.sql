-- name: generations_by_source
-- The generations that can still be shown.
SELECT g.number, g.run_id, g.activated_at, g.documents, g.number = s.active_generation
FROM generations g JOIN sources s ON s.id = g.source_id
WHERE g.source_id = :source ORDER BY g.number;

-- name: generation_run
-- The run that made a generation, and whether readers saw it before.
SELECT run_id, activated_at IS NOT NULL FROM generations WHERE source_id = :source AND number = :generation;

-- name: activate
-- Move the pointer: one row. An approved generation is a success, and its error is forgotten.
UPDATE sources SET active_generation = :generation,
       status = CASE WHEN held_generation = :generation THEN 'SUCCESS' ELSE status END,
       last_error = CASE WHEN held_generation = :generation THEN NULL ELSE last_error END,
       last_success_at = CASE WHEN held_generation = :generation THEN coalesce(:succeeded_at, last_success_at)
                         ELSE last_success_at END,
       last_result = CASE WHEN held_generation = :generation THEN :result ELSE last_result END,
       consecutive_failures = CASE WHEN held_generation = :generation THEN 0 ELSE consecutive_failures END,
       held_generation = NULL, held_reason = NULL, held_at = NULL,
       last_generation = CASE WHEN last_generation < :generation THEN :generation ELSE last_generation END
WHERE id = :source;

-- name: generation_activated
-- A held generation is shown for the first time.
UPDATE generations SET activated_at = coalesce(activated_at, :now) WHERE source_id = :source AND number = :generation;

-- name: activation_insert
-- A generation was shown, in place of the one before; a rollback has no run.
INSERT INTO activations (source_id, generation, previous, run_id, at, cause, actor, documents)
SELECT id, :generation, active_generation, :run, :now, :cause, :actor,
       (SELECT g.documents FROM generations g WHERE g.source_id = :source AND g.number = :generation)
FROM sources WHERE id = :source
RETURNING id;

-- name: activations_by_source
-- How the generations that are kept came to be shown, the newest first.
SELECT a.id, a.generation, a.previous, a.run_id, a.at, a.cause, a.actor, a.documents
FROM activations a
WHERE a.source_id = :source
  AND a.generation >= (SELECT coalesce(min(g.number), 0) FROM generations g WHERE g.source_id = :source)
ORDER BY a.id DESC LIMIT :limit;

-- name: activations_since
-- What was shown since a moment, and what was shown then: the newest first.
SELECT a.id, a.generation, a.previous, a.run_id, a.at, a.cause, a.actor, a.documents
FROM activations a
WHERE a.source_id = :source AND a.id >= coalesce(
  (SELECT max(b.id) FROM activations b WHERE b.source_id = :source AND b.at < :since), 0)
ORDER BY a.id DESC LIMIT :limit;

-- name: shown_at
-- What readers saw of each source at a moment: the generation that was shown last before it.
SELECT s.id, coalesce(a.generation, 0), a.at,
       (SELECT min(b.at) FROM activations b WHERE b.source_id = s.id AND b.id > a.id),
       EXISTS (SELECT 1 FROM generations g WHERE g.source_id = s.id AND g.number = a.generation),
       (SELECT min(b.at) FROM activations b WHERE b.source_id = s.id),
       (SELECT min(b.at) FROM activations b
        JOIN generations g ON g.source_id = b.source_id AND g.number = b.generation WHERE b.source_id = s.id)
FROM sources s
LEFT JOIN activations a ON a.id = (
  SELECT max(b.id) FROM activations b WHERE b.source_id = s.id AND b.at <= :at)
ORDER BY s.id;

-- name: oldest_seen
-- The oldest generation that readers saw at a moment or after it.
SELECT min(a.generation) FROM activations a
WHERE a.source_id = :source AND a.id >= coalesce(
  (SELECT max(b.id) FROM activations b WHERE b.source_id = :source AND b.at <= :since), 0);

-- name: removed_since
-- Sources that were removed after a moment.
SELECT CASE WHEN version = '' THEN name ELSE name || '@' || version END, at FROM removals WHERE at > :at ORDER BY id;

-- name: vacuum_documents
-- Documents that died before the kept history.
DELETE FROM documents WHERE source_id = :source AND died IS NOT NULL AND died <= :floor RETURNING content_id, ref_id;

-- name: vacuum_handoffs
-- Finished handoffs from before a time.
DELETE FROM handoffs WHERE source_id = :source AND status IN ('completed', 'failed') AND updated_at < moment(:before)
RETURNING content_id, ref_id;

-- name: handoff_texts
-- The texts that finished handoffs of generations before the kept history still point at.
SELECT DISTINCT content_id, ref_id FROM handoffs
WHERE source_id = :source AND generation < :floor AND status IN ('completed', 'failed') AND content_id IS NOT NULL;

-- name: drafts_forget
-- What was to become of them goes too.
DELETE FROM drafts WHERE handoff_id IN (
  SELECT id FROM handoffs
  WHERE source_id = :source AND generation < :floor AND status IN ('completed', 'failed') AND content_id IS NOT NULL);

-- name: handoff_texts_forget
-- The record of how an item came in stays; its text goes with its generation.
UPDATE handoffs SET content_id = NULL
WHERE source_id = :source AND generation < :floor AND status IN ('completed', 'failed') AND content_id IS NOT NULL;

-- name: vacuum_generations
-- Generations before the kept history.
DELETE FROM generations WHERE source_id = :source AND number < :floor;

-- name: contents_unused
-- The contents no document uses: a scan.
SELECT id FROM contents c WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id);

-- name: contents_unused_among
-- Of these contents, the ones no document uses.
SELECT id FROM contents c
WHERE id IN list(:ids) AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id);

-- name: contents_handed_off
-- Of these contents, the ones a handoff uses.
SELECT DISTINCT content_id FROM handoffs WHERE content_id IN list(:ids);

-- name: contents_passages
-- The passages these contents point at.
SELECT DISTINCT passage_id FROM sections WHERE content_id IN list(:ids);

-- name: contents_delete
-- Contents with their sections.
DELETE FROM contents WHERE id IN list(:ids);

-- name: passages_unused
-- The passages no section points at: a scan.
SELECT id FROM passages p WHERE NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = p.id);

-- name: passages_unused_among
-- Of these passages, the ones no section points at.
SELECT id FROM passages p
WHERE id IN list(:ids) AND NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = p.id);

-- name: vectors_delete
-- The vectors of these passages.
DELETE FROM vectors WHERE passage_id IN list(:ids);

-- name: passages_delete
-- The passages themselves, with their words.
DELETE FROM passages WHERE id IN list(:ids);

-- name: refs_unused
-- References of a source that no document and no handoff is of; none while a run works on it.
SELECT r.id FROM refs r
WHERE r.source_id = :source
  AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.ref_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM handoffs h WHERE h.ref_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.source_id = :source AND n.finished_at IS NULL);

-- name: links_by_source
-- The references that documents and handoffs of a source link to.
SELECT links FROM documents WHERE source_id = :source
UNION ALL SELECT w.links FROM drafts w JOIN handoffs h ON h.id = w.handoff_id WHERE h.source_id = :source;

-- name: aliases_by_source
-- Other names of references.
SELECT id, alias_of FROM refs WHERE source_id = :source AND alias_of IS NOT NULL;

-- name: refs_delete
-- References that nothing mentions.
DELETE FROM refs WHERE id IN list(:ids);

-- name: versions_at
-- Documents of a source that are visible at one generation and not at another.
SELECT d.ref_id, r.reference, d.url, d.title, d.content_id, text_of(d.metadata)
FROM documents d JOIN refs r ON r.id = d.ref_id
WHERE d.source_id = :source
  AND d.born <= :at AND (d.died IS NULL OR d.died > :at)
  AND NOT (d.born <= :other AND (d.died IS NULL OR d.died > :other));

-- name: replacements
-- What is born at a generation, with its text if it is short, beside the version that dies there.
SELECT r.reference, n.content_id, o.content_id, text_bytes(nc.text), coalesce(text_bytes(oc.text), 0),
       CASE WHEN text_bytes(nc.text) <= :short THEN text_of(nc.text) END,
       CASE WHEN text_bytes(oc.text) <= :short THEN text_of(oc.text) END
FROM documents n
JOIN refs r ON r.id = n.ref_id
JOIN contents nc ON nc.id = n.content_id
LEFT JOIN documents o ON o.ref_id = n.ref_id AND o.died = :generation AND o.born < :generation
LEFT JOIN contents oc ON oc.id = o.content_id
WHERE n.source_id = :source AND n.born = :generation;

-- name: section_paths
-- What these contents say: their passages with their heading paths.
SELECT s.content_id, p.id, p.heading_path FROM sections s JOIN passages p ON p.id = s.passage_id
WHERE s.content_id IN list(:contents) AND s.form <> 'details' ORDER BY s.content_id, s.position;

-- name: versions_of
-- Every version of a reference that is kept, oldest first; the texts of those that a generation of a list shows.
SELECT d.id, r.reference, d.url, d.title, d.content_type, c.hash, d.fetched_at, d.born, d.died, text_bytes(c.text),
       text_of(d.metadata), CASE WHEN (d.born <= :first AND (d.died IS NULL OR d.died > :first))
                          OR (d.born <= :second AND (d.died IS NULL OR d.died > :second)) THEN text_of(c.text) END
FROM refs r
JOIN documents d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys)
ORDER BY d.born, d.id;
