-- name: drafts_of_births
-- What no reader has seen may come again as it is: its handoff has it back before the document goes.
INSERT INTO drafts (handoff_id, url, title, metadata, content_type, etag, last_modified, body_hash, body_bytes, depth, links)
SELECT h.id, d.url, d.title, d.metadata, d.content_type, d.etag, d.last_modified, d.body_hash, d.body_bytes, d.depth, d.links
FROM documents d JOIN handoffs h ON h.ref_id = d.ref_id AND h.payload_hash = d.payload_hash AND h.content_id IS NOT NULL
WHERE d.source_id = :source AND d.born > (SELECT active_generation FROM sources WHERE id = :source)
ON CONFLICT (handoff_id) DO NOTHING;

-- name: discard_births
-- Half of the one rule that cleans up: what was born beyond the active generation is deleted.
DELETE FROM documents
WHERE source_id = :source AND born > (SELECT active_generation FROM sources WHERE id = :source);

-- name: discard_deaths
-- The other half: what died beyond the active generation is alive.
UPDATE documents SET died = NULL
WHERE source_id = :source AND died > (SELECT active_generation FROM sources WHERE id = :source);

-- name: discard_generations
-- The numbers stay used (sources.last_generation), their records go.
DELETE FROM generations
WHERE source_id = :source AND number > (SELECT active_generation FROM sources WHERE id = :source);

-- name: run_insert
-- A run that stages the next generation.
INSERT INTO runs (source_id, mode, status, generation, started_at, owner)
SELECT id, :mode, 'running', last_generation + 1, :now, :owner FROM sources WHERE id = :source
RETURNING id, source_id, mode, status, generation, stop_reason, started_at, finished_at, counters, error, owner, "window";

-- name: source_status
-- The state a source is in.
SELECT status FROM sources WHERE id = :source;

-- name: source_running
-- A run began; what an earlier run held is discarded with it.
UPDATE sources SET status = :status, last_run_at = :now, held_generation = NULL, held_reason = NULL
WHERE id = :source;

-- name: generation_insert
-- A generation readers see or a held one (without activation time).
INSERT INTO generations (source_id, number, run_id, activated_at, documents)
VALUES (:source, :number, :run, :activated_at, :documents);

-- name: handoffs_supersede
-- Unfinished handoffs of earlier runs: a newer generation made them pointless. Those whose text readers see wait on.
UPDATE handoffs SET status = 'failed', reason_code = 'superseded', retry_at = NULL, updated_at = moment(:now)
WHERE source_id = :source AND status IN ('queued', 'running') AND run_id <> :run
  AND (retry_at IS NULL OR generation > (SELECT active_generation FROM sources WHERE id = :source));

-- name: source_finish
-- The end of a run on its source; with a generation to activate this one UPDATE is what readers notice. The verdict
-- is the new status, or NULL after a cancelled run, which says nothing about the source.
UPDATE sources SET
  status = :status,
  active_generation = coalesce(:activate, active_generation),
  last_generation = CASE WHEN last_generation < coalesce(:activate, :hold, 0) THEN coalesce(:activate, :hold, 0)
                    ELSE last_generation END,
  held_generation = :hold,
  held_reason = :hold_reason,
  held_at = CASE WHEN CAST(:hold AS bigint) IS NOT NULL THEN coalesce(held_at, :now)
            WHEN CAST(:outcome AS text) IN ('completed', 'partial') THEN NULL ELSE held_at END,
  last_success_at = CASE WHEN CAST(:outcome AS text) = 'completed' THEN :now ELSE last_success_at END,
  last_error_at = CASE WHEN CAST(:verdict AS text) = 'ERROR' THEN :now ELSE last_error_at END,
  last_error = CASE CAST(:verdict AS text) WHEN 'SUCCESS' THEN NULL WHEN 'ERROR' THEN :error ELSE last_error END,
  consecutive_failures = CASE CAST(:verdict AS text) WHEN 'SUCCESS' THEN 0 WHEN 'ERROR' THEN consecutive_failures + 1
                         ELSE consecutive_failures END,
  last_result = :result,
  watermark = coalesce(:watermark, watermark),
  last_processed_date = coalesce(:processed, last_processed_date),
  metadata = coalesce(:metadata, metadata)
WHERE id = :source;

-- name: run_finish
-- How a run ended. An activated or held generation keeps its number, any other run reports what readers see.
UPDATE runs SET status = :status, mode = :mode, stop_reason = :stop_reason, finished_at = :now, counters = :counters,
       error = :error, "window" = :window,
       generation = coalesce(:generation, (SELECT active_generation FROM sources WHERE id = :source))
WHERE id = :run;

-- name: run_progress
-- How far a run has come.
UPDATE runs SET counters = :counters WHERE id = :run AND status = 'running';

-- name: runs_by_source
-- The newest runs first.
SELECT id, source_id, mode, status, generation, stop_reason, started_at, finished_at, counters, error, owner, "window"
FROM runs WHERE source_id = :source ORDER BY id DESC LIMIT :limit;

-- name: runs_since
-- The runs since a moment, the newest first.
SELECT id, source_id, mode, status, generation, stop_reason, started_at, finished_at, counters, error, owner, "window"
FROM runs WHERE source_id = :source AND started_at >= :since ORDER BY id DESC LIMIT :limit;

-- name: run_problems
-- What went wrong with items of a run, by reason.
SELECT outcome, reason, count(*), min(reference), min(detail) FROM run_items
WHERE run_id = :run AND outcome IN ('failed', 'skipped')
GROUP BY outcome, reason ORDER BY count(*) DESC, outcome, reason;

-- name: run_by_id
-- One run.
SELECT id, source_id, mode, status, generation, stop_reason, started_at, finished_at, counters, error, owner, "window"
FROM runs WHERE id = :run;

-- name: run_items_by_run
-- The items a run wrote down.
SELECT reference, outcome, reason, detail FROM run_items WHERE run_id = :run ORDER BY id;

-- name: run_share_insert
-- What a worker did for a run.
INSERT INTO run_shares (run_id, counters) VALUES (:run, :counters);

-- name: run_shares
-- What workers did for a run.
SELECT counters FROM run_shares WHERE run_id = :run;

-- name: run_items_insert
-- What became of items.
COPY run_items (run_id, reference, outcome, reason, detail) FROM STDIN;

-- name: source_lost
-- The process that ran it is gone.
UPDATE sources SET status = :status, last_error_at = :now, last_error = 'its process ended before it did',
       last_result = :result, consecutive_failures = consecutive_failures + 1
WHERE id = :source AND status = 'RUNNING';

-- name: runs_close_lost
-- Runs whose process died are not running.
UPDATE runs SET status = 'lost', stop_reason = 'error', finished_at = :now, error = 'its process ended before it did'
WHERE source_id = :source AND status = 'running';

-- name: verification
-- What is known of the documents of a source since its last run that looked at all of them.
SELECT at, way, exceptions, looks, rates FROM verifications WHERE source_id = :source;

-- name: verification_save
-- A run looked at everything, or at some pages; what it has not learnt stays as it was.
INSERT INTO verifications (source_id, at, way, exceptions, looks, rates, learnt_at)
VALUES (:source, :at, :way, :exceptions, :looks, :rates, :learnt_at)
ON CONFLICT (source_id) DO UPDATE SET at = excluded.at, way = excluded.way, exceptions = excluded.exceptions,
  looks = excluded.looks,
  rates = coalesce(excluded.rates, verifications.rates),
  learnt_at = coalesce(excluded.learnt_at, verifications.learnt_at);

-- name: verification_forget
-- After a rollback readers see other versions than the last run looked at.
DELETE FROM verifications WHERE source_id = :source;

-- name: fetched_since
-- How many documents readers see, how many of them were fetched since two moments, and when the last one was.
SELECT count(*), count(*) FILTER (WHERE d.fetched_at >= :day), count(*) FILTER (WHERE d.fetched_at >= :week),
       max(d.fetched_at)
FROM documents_active d WHERE d.source_id = :source;
