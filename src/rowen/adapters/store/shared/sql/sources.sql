-- name: source_clash
-- A source that stands in the way of a new one.
SELECT name, version FROM sources WHERE (name = :name AND version = :version) OR key = :key;

-- name: source_insert
-- A new source, idle, with nothing visible yet.
INSERT INTO sources (key, kind, name, version, location, params, metadata, created_at)
VALUES (:key, :kind, :name, :version, :location, :params, :metadata, :now)
RETURNING id;

-- name: source_by_id
-- One source with its state.
SELECT id, key, kind, name, version, location, params, status, active_generation, last_generation,
       held_generation, held_reason, last_run_at, last_success_at, last_error_at, last_error, watermark,
       last_processed_date, consecutive_failures, metadata, created_at, every_s, paused, last_result,
       held_at, paused_at, paused_by, pinned_at, pinned_by
FROM sources WHERE id = :source;

-- name: source_empty
-- The largest part of a source: its references, with their documents and handoffs.
DELETE FROM refs WHERE source_id = :source;

-- name: source_delete
-- A source with everything that belongs to it alone.
DELETE FROM sources WHERE id = :source;

-- name: sources_all
-- Every source with its state, in the order of names.
SELECT id, key, kind, name, version, location, params, status, active_generation, last_generation,
       held_generation, held_reason, last_run_at, last_success_at, last_error_at, last_error, watermark,
       last_processed_date, consecutive_failures, metadata, created_at, every_s, paused, last_result,
       held_at, paused_at, paused_by, pinned_at, pinned_by
FROM sources ORDER BY name, version;

-- name: document_counts
-- How many documents the visible generation of each source has.
SELECT s.id, coalesce(g.documents, 0)
FROM sources s LEFT JOIN generations g ON g.source_id = s.id AND g.number = s.active_generation;

-- name: source_stats
-- How much readers see of a source.
SELECT count(*),
       CAST(coalesce(sum((SELECT count(*) FROM sections s WHERE s.content_id = d.content_id)), 0) AS bigint),
       CAST(coalesce(sum((SELECT text_bytes(c.text) FROM contents c WHERE c.id = d.content_id)), 0) AS bigint)
FROM documents_active d WHERE d.source_id = :source;

-- name: source_schedule
-- Its own interval, or none.
UPDATE sources SET every_s = :every_s WHERE id = :source;

-- name: source_pinned
-- A person says that readers stay at what they see, or that runs go on; of a pin the first moment counts.
UPDATE sources SET pinned_at = CASE WHEN :pinned THEN coalesce(pinned_at, :now) END,
       pinned_by = CASE WHEN :pinned THEN coalesce(pinned_by, :by) END
WHERE id = :source;

-- name: source_change
-- Settings that are part of the key; with `forget` how far it was read belongs to the old ones.
UPDATE sources SET key = :key, params = :params, metadata = :metadata,
       watermark = CASE WHEN :forget THEN NULL ELSE watermark END,
       last_processed_date = CASE WHEN :forget THEN NULL ELSE last_processed_date END
WHERE id = :source;

-- name: listings_forget
-- Remembered listings that were made of answers to other settings.
DELETE FROM listings WHERE source_id = :source;
