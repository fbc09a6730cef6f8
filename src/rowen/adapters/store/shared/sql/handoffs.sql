-- name: handoffs_find
-- The handoffs of these references, of which a few are kept.
SELECT ref_id, payload_hash, id, status, attempts, reason_code FROM handoffs WHERE ref_id IN list(:refs);

-- name: handoff_insert
-- A changed reference must be ingested.
INSERT INTO handoffs (source_id, ref_id, payload_hash, content_id, run_id, generation, status, reason_code, created_at,
                      updated_at)
VALUES (:source, :ref, :payload_hash, :content, :run, :generation, 'queued', :reason, moment(:now), moment(:now))
RETURNING id;

-- name: drafts_insert
-- What new handoffs are to make documents of.
COPY drafts (handoff_id, url, title, metadata, content_type, etag, last_modified, body_hash, body_bytes, depth, links) FROM STDIN;

-- name: draft_save
-- The same of a handoff that was there before.
INSERT INTO drafts (handoff_id, url, title, metadata, content_type, etag, last_modified, body_hash, body_bytes, depth, links)
VALUES (:handoff, :url, :title, :metadata, :content_type, :etag, :last_modified, :body_hash, :body_bytes, :depth, :links)
ON CONFLICT (handoff_id) DO UPDATE SET
  etag = excluded.etag, last_modified = excluded.last_modified, body_hash = excluded.body_hash,
  body_bytes = excluded.body_bytes, depth = excluded.depth, links = excluded.links;

-- name: drafts_there
-- Of these handoffs, the ones that no document was made of yet.
SELECT handoff_id FROM drafts WHERE handoff_id IN list(:handoffs);

-- name: drafts_delete
-- Documents have it now.
DELETE FROM drafts WHERE handoff_id IN list(:handoffs);

-- name: handoff_reopen
-- The same payload again: its one handoff is queued again, for this run.
UPDATE handoffs SET
  run_id = :run, generation = :generation, status = 'queued', reason_code = :reason, attempts = :attempts,
  last_error = NULL, retry_at = NULL, content_id = :content, updated_at = moment(:now)
WHERE id = :handoff;

-- name: handoffs_newest
-- The newest handoff of each of these references, with its text.
SELECT h.id, h.ref_id, r.reference, h.content_id, c.sectioned, h.status, h.attempts, w.url, w.title, text_of(c.text), c.hash,
       w.body_hash, w.etag, w.last_modified, w.content_type, w.depth, w.links, text_of(w.metadata), h.reason_code,
       w.body_bytes
FROM handoffs h
JOIN drafts w ON w.handoff_id = h.id
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
       attempts = :attempts, last_error = NULL, retry_at = NULL, updated_at = moment(:now)
WHERE id = :handoff;

-- name: handoffs_staged
-- Handoffs that wait for ingestion or whose ingestion did not end, with their texts.
SELECT h.id, h.ref_id, r.reference, h.content_id, c.sectioned, h.status, h.attempts, w.url, w.title, text_of(c.text), c.hash,
       w.body_hash, w.etag, w.last_modified, w.content_type, w.depth, w.links, text_of(w.metadata), h.reason_code,
       w.body_bytes
FROM handoffs h
JOIN drafts w ON w.handoff_id = h.id
JOIN refs r ON r.id = h.ref_id
JOIN contents c ON c.id = h.content_id
WHERE h.id IN list(:ids) AND h.run_id = :run AND h.retry_at IS NULL AND (h.status = 'queued' OR (:begun AND h.status = 'running'))
ORDER BY h.id LIMIT :limit;

-- name: handoffs_settled
-- Of these handoffs, the ones that ended or wait for an attempt after the run, and why.
SELECT h.id, r.reference, h.reason_code, h.last_error FROM handoffs h JOIN refs r ON r.id = h.ref_id
WHERE h.id IN list(:ids) AND (h.status IN ('completed', 'failed') OR h.retry_at IS NOT NULL);

-- name: handoffs_start
-- The attempt counts from its start, so that a crash counts too.
UPDATE handoffs SET status = 'running', reason_code = 'ingestion_job_queued', attempts = attempts + 1, updated_at = moment(:now)
WHERE id IN list(:ids);

-- name: handoffs_start_again
-- Another attempt at what was in work when a process ended: only those that were made in the same way count.
UPDATE handoffs SET status = 'running', reason_code = :reason, updated_at = moment(:now),
       attempts = CASE WHEN reason_code = :reason THEN attempts + 1 ELSE 1 END
WHERE id IN list(:ids);

-- name: handoffs_put_back
-- An attempt was broken off on purpose: it does not count.
UPDATE handoffs SET status = 'queued', attempts = attempts - 1, updated_at = moment(:now),
       reason_code = CASE WHEN retry_at IS NULL OR reason_code IN ('retried_with_few', 'retried_alone')
                     THEN reason_code ELSE 'retry_scheduled' END
WHERE id IN list(:ids) AND status = 'running';

-- name: handoffs_not_done
-- Of these handoffs, the ones no other worker has completed.
SELECT id FROM handoffs WHERE id IN list(:ids) AND status <> 'completed' ORDER BY id;

-- name: documents_supersede
-- The older versions of these references die where the newer are born.
UPDATE documents SET died = :generation WHERE source_id = :source AND died IS NULL AND ref_id IN list(:refs);

-- name: documents_insert
-- Versions of references are born.
INSERT INTO documents (source_id, ref_id, content_id, url, title, metadata, content_type, etag, last_modified,
                       body_hash, body_bytes, payload_hash, depth, links, fetched_at, born)
SELECT h.source_id, h.ref_id, h.content_id, w.url, w.title, w.metadata, w.content_type, w.etag, w.last_modified,
       w.body_hash, w.body_bytes, h.payload_hash, w.depth, w.links, :now, :generation
FROM handoffs h JOIN drafts w ON w.handoff_id = h.id WHERE h.id IN list(:handoffs) ORDER BY h.id;

-- name: document_insert
-- A version of a reference is born, in a store without handoffs.
INSERT INTO documents (source_id, ref_id, content_id, url, title, metadata, content_type, etag, last_modified,
                       body_hash, body_bytes, payload_hash, depth, links, fetched_at, born)
VALUES (:source, :ref, :content, :url, :title, :metadata, :content_type, :etag, :last_modified,
        :body_hash, :body_bytes, :payload_hash, :depth, :links, :now, :generation);

-- name: handoffs_settle
-- How attempts ended.
UPDATE handoffs SET status = :status, reason_code = :reason, last_error = :error, retry_at = moment(:retry_at), updated_at = moment(:now)
WHERE id IN list(:ids);

-- name: handoffs_retries
-- When the first handoff of each source that readers see is due for another attempt; what a clock that was ahead wrote, now.
SELECT h.source_id, time_of(min(CASE WHEN h.updated_at > moment(:ahead) THEN moment(:now) ELSE h.retry_at END)) FROM handoffs h JOIN sources s ON s.id = h.source_id
WHERE h.retry_at IS NOT NULL AND h.generation <= s.active_generation
GROUP BY h.source_id;

-- name: handoffs_due
-- The handoffs of a source that are due for another attempt, and whether readers still see their version.
SELECT h.id, h.status, h.reason_code, h.attempts,
       EXISTS (SELECT 1 FROM documents_active d WHERE d.ref_id = h.ref_id AND d.payload_hash = h.payload_hash),
       h.content_id
FROM handoffs h JOIN sources s ON s.id = h.source_id
WHERE h.source_id = :source AND h.retry_at IS NOT NULL AND (h.retry_at <= moment(:now) OR h.updated_at > moment(:ahead)) AND h.generation <= s.active_generation
ORDER BY h.retry_at, h.id LIMIT :limit;

-- name: unembedded_in
-- The passages of these contents without a vector under a model.
SELECT DISTINCT s.content_id, p.id FROM sections s JOIN passages p ON p.id = s.passage_id
WHERE s.content_id IN list(:contents) AND s.form <> 'details'
  AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model);

-- name: handoffs_list
-- Handoffs, newest first. A filter that is left out is NULL; the cast tells PostgreSQL its type.
SELECT h.id, s.name, r.reference, h.payload_hash, h.run_id, h.generation, h.status, h.reason_code, h.attempts,
       h.last_error, time_of(h.retry_at), time_of(h.created_at), time_of(h.updated_at)
FROM handoffs h JOIN refs r ON r.id = h.ref_id JOIN sources s ON s.id = h.source_id
WHERE (CAST(:source AS bigint) IS NULL OR h.source_id = :source)
  AND (CAST(:status AS text) IS NULL OR h.status = :status)
  AND (CAST(:reason AS text) IS NULL OR h.reason_code = :reason)
  AND (CAST(:run AS bigint) IS NULL OR h.run_id = :run)
ORDER BY h.updated_at DESC, h.id DESC LIMIT :limit OFFSET :offset;

-- name: handoff_by_id
-- One handoff.
SELECT h.id, s.name, r.reference, h.payload_hash, h.run_id, h.generation, h.status, h.reason_code, h.attempts,
       h.last_error, time_of(h.retry_at), time_of(h.created_at), time_of(h.updated_at)
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
-- A failed handoff is queued again; where readers see its text, the next attempt is due now.
UPDATE handoffs SET status = 'queued', attempts = 0, last_error = NULL, updated_at = moment(:now),
       reason_code = CASE WHEN reason_code = 'worker_lost' THEN 'retried_alone' ELSE :reason END,
       retry_at = CASE WHEN EXISTS (SELECT 1 FROM documents_active d
                                    WHERE d.ref_id = handoffs.ref_id AND d.payload_hash = handoffs.payload_hash)
                  THEN moment(:now) ELSE retry_at END
WHERE id = :handoff AND status = 'failed';

-- name: handoff_cancel
-- A handoff that has not ended fails.
UPDATE handoffs SET status = 'failed', reason_code = :reason, retry_at = NULL, updated_at = moment(:now)
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
COPY sections (content_id, position, level, parent, heading, anchor, start_at, end_at, passage_id, link_share, form, symbol, symbol_kind, symbol_words, kept) FROM STDIN;

-- name: contents_sectioned
-- Their sections are complete.
UPDATE contents SET sectioned = true WHERE id IN list(:ids);
