-- name: rates_learnt_at
-- When rates of the pages of a source were last learnt.
SELECT learnt_at FROM verifications WHERE source_id = :source;

-- name: pages_visible
-- How many documents readers see of a source.
SELECT count(*) FROM documents_active d WHERE d.source_id = :source;

-- name: pages_checked
-- Every so many of the visible pages, when each was fetched, and what is known of its earlier versions.
SELECT r.reference, d.fetched_at, h.changes, h.changed_s, h.unchanged_s
FROM documents_active d JOIN refs r ON r.id = d.ref_id LEFT JOIN page_changes h ON h.ref_id = d.ref_id
WHERE d.source_id = :source AND d.id % :step = 0;

-- name: pages_changed
-- The pages whose texts or metadata a run found changed, and the versions readers saw before.
SELECT r.id, r.reference, d.fetched_at, h.changes, h.changed_s, h.unchanged_s
FROM documents d JOIN refs r ON r.id = d.ref_id LEFT JOIN page_changes h ON h.ref_id = d.ref_id
WHERE d.source_id = :source AND d.died = :generation AND r.reference IN (
  SELECT i.reference FROM run_items i
  WHERE i.run_id = :run AND i.reason IN ('content_changed', 'metadata_changed')
);

-- name: page_changes_save
-- What the checks of a page said until now.
INSERT INTO page_changes (ref_id, source_id, changes, changed_s, unchanged_s)
VALUES (:ref, :source, :changes, :changed_s, :unchanged_s)
ON CONFLICT (ref_id) DO UPDATE
SET changes = excluded.changes, changed_s = excluded.changed_s, unchanged_s = excluded.unchanged_s;

-- name: page_changes_forget
-- Pages that no version is kept of.
DELETE FROM page_changes
WHERE source_id = :source AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.ref_id = page_changes.ref_id);

-- name: items_said
-- Removals that readers saw, and failures, of these references of a source; the newest first.
SELECT i.reference, i.outcome, i.reason, i.detail, r.started_at
FROM runs r JOIN run_items i ON i.run_id = r.id
WHERE r.source_id = :source AND i.reference IN list(:references) AND (
  i.outcome = 'failed'
  OR (i.outcome = 'deleted' AND EXISTS (SELECT 1 FROM activations a WHERE a.run_id = r.id))
)
ORDER BY i.id DESC LIMIT :limit;

-- name: document_reference
-- Of which source and reference a document is, visible or not.
SELECT d.source_id, r.reference FROM documents d JOIN refs r ON r.id = d.ref_id WHERE d.id = :document;

-- name: pages_shown
-- How often pages of a source were shown, and until when that was counted.
SELECT at, counts FROM pages_shown WHERE source_id = :source;

-- name: pages_shown_save
-- The counts of a source, in place of those before.
INSERT INTO pages_shown (source_id, at, counts) VALUES (:source, :at, :counts)
ON CONFLICT (source_id) DO UPDATE SET at = excluded.at, counts = excluded.counts;
