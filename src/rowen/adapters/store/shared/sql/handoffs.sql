-- name: handoffs_find
-- The handoffs of these references, of which a few are kept.
SELECT ref_id, payload_hash, id, status, attempts FROM handoffs WHERE ref_id IN list(:refs);

-- name: handoff_insert
-- A changed reference must be ingested.
INSERT INTO handoffs (source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, url,
                      title, metadata, content_type, etag, last_modified, body_hash, depth, links,
                      created_at, updated_at)
VALUES (:source, :ref, :payload_hash, :content, :run, :generation, 'queued', :reason, :url,
        :title, :metadata, :content_type, :etag, :last_modified, :body_hash, :depth, :links, :now, :now)
RETURNING id;

-- name: handoff_reopen
-- The same payload again: its one handoff is queued again, for this run.
UPDATE handoffs SET
  run_id = :run, generation = :generation, status = 'queued', reason_code = :reason, attempts = :attempts,
  last_error = NULL, content_id = :content, etag = :etag, last_modified = :last_modified,
  body_hash = :body_hash, depth = :depth, links = :links, updated_at = :now
WHERE id = :handoff;

-- name: handoffs_newest
-- The newest handoff of each of these references, with its text.
SELECT h.id, h.ref_id, r.reference, h.content_id, c.sectioned, h.status, h.attempts, h.url, h.title, c.text, c.hash,
       h.body_hash, h.etag, h.last_modified, h.content_type, h.depth, h.links, h.metadata
FROM handoffs h
JOIN refs r ON r.id = h.ref_id
JOIN contents c ON c.id = h.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys)
  AND h.id = (SELECT n.id FROM handoffs n WHERE n.ref_id = h.ref_id ORDER BY n.updated_at DESC, n.id DESC LIMIT 1)
ORDER BY h.ref_id;

-- name: refs_by_id
-- The addresses with these ids.
SELECT id, reference FROM refs WHERE id IN list(:ids);

-- name: handoff_revive
-- An interrupted run's handoff, taken up by this run as it stands.
UPDATE handoffs SET run_id = :run, generation = :generation, status = 'queued', reason_code = :reason,
       attempts = :attempts, last_error = NULL, updated_at = :now
WHERE id = :handoff;

-- name: handoffs_staged
-- Handoffs that wait for ingestion or whose ingestion did not end, with their texts.
SELECT h.id, h.ref_id, r.reference, h.content_id, c.sectioned, h.status, h.attempts, h.url, h.title, c.text, c.hash,
       h.body_hash, h.etag, h.last_modified, h.content_type, h.depth, h.links, h.metadata
FROM handoffs h
JOIN refs r ON r.id = h.ref_id
JOIN contents c ON c.id = h.content_id
WHERE h.id IN list(:ids) AND h.run_id = :run AND (h.status = 'queued' OR (:begun AND h.status = 'running'))
ORDER BY h.id LIMIT :limit;

-- name: handoffs_settled
-- Of these handoffs, the ones that ended, and why.
SELECT h.id, r.reference, h.reason_code FROM handoffs h JOIN refs r ON r.id = h.ref_id
WHERE h.id IN list(:ids) AND h.status IN ('completed', 'failed');

-- name: handoffs_start
-- The attempt counts from its start, so that a crash counts too.
UPDATE handoffs SET status = 'running', reason_code = 'ingestion_job_queued', attempts = attempts + 1, updated_at = :now
WHERE id IN list(:ids);

-- name: handoffs_not_done
-- Of these handoffs, the ones no other worker has completed.
SELECT id FROM handoffs WHERE id IN list(:ids) AND status <> 'completed' ORDER BY id;

-- name: documents_supersede
-- The older versions of these references die where the newer are born.
UPDATE documents SET died = :generation WHERE source_id = :source AND died IS NULL AND ref_id IN list(:refs);

-- name: documents_insert
-- Versions of references are born.
INSERT INTO documents (source_id, ref_id, content_id, url, title, metadata, content_type, etag, last_modified,
                       body_hash, payload_hash, depth, links, fetched_at, born)
SELECT source_id, ref_id, content_id, url, title, metadata, content_type, etag, last_modified,
       body_hash, payload_hash, depth, links, :now, :generation
FROM handoffs WHERE id IN list(:handoffs) ORDER BY id;

-- name: handoffs_complete
-- Attempts that ended well.
UPDATE handoffs SET status = 'completed', reason_code = :reason, last_error = NULL, updated_at = :now
WHERE id IN list(:ids);

-- name: handoff_settle
-- How an attempt ended.
UPDATE handoffs SET status = :status, reason_code = :reason, last_error = :error, updated_at = :now WHERE id = :handoff;

-- name: handoffs_list
-- Handoffs, newest first. A filter that is left out is NULL; the cast tells PostgreSQL its type.
SELECT h.id, s.name, r.reference, h.payload_hash, h.run_id, h.generation, h.status, h.reason_code, h.attempts,
       h.last_error, h.created_at, h.updated_at
FROM handoffs h JOIN refs r ON r.id = h.ref_id JOIN sources s ON s.id = h.source_id
WHERE (CAST(:source AS bigint) IS NULL OR h.source_id = :source)
  AND (CAST(:status AS text) IS NULL OR h.status = :status)
  AND (CAST(:run AS bigint) IS NULL OR h.run_id = :run)
ORDER BY h.updated_at DESC, h.id DESC LIMIT :limit OFFSET :offset;

-- name: handoff_by_id
-- One handoff.
SELECT h.id, s.name, r.reference, h.payload_hash, h.run_id, h.generation, h.status, h.reason_code, h.attempts,
       h.last_error, h.created_at, h.updated_at
FROM handoffs h JOIN refs r ON r.id = h.ref_id JOIN sources s ON s.id = h.source_id
WHERE h.id = :handoff;

-- name: handoffs_count
-- How many handoffs there are in each state, and why.
SELECT status, reason_code, count(*) FROM handoffs GROUP BY status, reason_code;

-- name: handoffs_count_run
-- The same of one run; its source narrows the search.
SELECT status, reason_code, count(*) FROM handoffs
WHERE source_id = (SELECT source_id FROM runs WHERE id = :run) AND run_id = :run
GROUP BY status, reason_code;

-- name: handoff_requeue
-- A failed handoff is queued again.
UPDATE handoffs SET status = 'queued', reason_code = :reason, attempts = 0, last_error = NULL, updated_at = :now
WHERE id = :handoff AND status = 'failed';

-- name: handoff_cancel
-- A handoff that has not ended fails.
UPDATE handoffs SET status = 'failed', reason_code = :reason, updated_at = :now
WHERE id = :handoff AND status IN ('queued', 'running');

-- name: contents_find
-- Contents by their address.
SELECT hash, id, sectioned FROM contents WHERE hash IN list(:hashes);

-- name: contents_insert
-- Texts met for the first time.
COPY contents (hash, text) FROM STDIN;

-- name: contents_to_section
-- Of these contents, the ones whose sections are still missing.
SELECT id FROM contents WHERE id IN list(:ids) AND NOT sectioned ORDER BY id;

-- name: sections_insert
-- Places in contents.
COPY sections (content_id, position, level, parent, heading, anchor, start_at, end_at, passage_id) FROM STDIN;

-- name: contents_sectioned
-- Their sections are complete.
UPDATE contents SET sectioned = true WHERE id IN list(:ids);
