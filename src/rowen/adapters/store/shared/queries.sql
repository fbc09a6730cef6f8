-- Statements of both databases. `queries.py` says what is written as neither of them does.

-- name: source_insert
-- A new source, idle, with nothing visible yet.
INSERT INTO sources (key, kind, name, version, location, params, metadata, created_at)
VALUES (:key, :kind, :name, :version, :location, :params, :metadata, :now)
RETURNING id;

-- name: source_clash
-- A source that stands in the way of a new one.
SELECT name, version FROM sources WHERE (name = :name AND version = :version) OR key = :key;

-- name: sources_all
-- Every source with its state, in the order of names.
SELECT id, key, kind, name, version, location, params, status, active_generation, last_generation,
       held_generation, held_reason, last_run_at, last_success_at, last_error_at, last_error, watermark,
       last_processed_date, consecutive_failures, metadata, created_at, every_s, paused
FROM sources ORDER BY name, version;

-- name: source_by_id
-- One source with its state.
SELECT id, key, kind, name, version, location, params, status, active_generation, last_generation,
       held_generation, held_reason, last_run_at, last_success_at, last_error_at, last_error, watermark,
       last_processed_date, consecutive_failures, metadata, created_at, every_s, paused
FROM sources WHERE id = :source;

-- name: source_schedule
-- Its own interval, or none.
UPDATE sources SET every_s = :every_s WHERE id = :source;

-- name: source_stats
-- How much readers see of a source.
SELECT count(*),
       CAST(coalesce(sum((SELECT count(*) FROM sections s WHERE s.content_id = d.content_id)), 0) AS bigint),
       CAST(coalesce(sum((SELECT length(c.text) FROM contents c WHERE c.id = d.content_id)), 0) AS bigint)
FROM documents_active d WHERE d.source_id = :source;

-- name: source_delete
-- A source with everything that belongs to it alone.
DELETE FROM sources WHERE id = :source;

-- name: pause_save
-- Leave an upstream alone until then.
INSERT INTO pauses (upstream, until, reason) VALUES (:upstream, :until, :reason)
ON CONFLICT (upstream) DO UPDATE SET until = excluded.until, reason = excluded.reason;

-- name: pauses_now
-- Upstreams that must be left alone now.
SELECT upstream, until, reason FROM pauses WHERE until > :now ORDER BY upstream;

-- name: note_get
-- A note by its name.
SELECT value FROM notes WHERE name = :name;

-- name: notes_like
-- The notes whose names begin so.
SELECT name, value FROM notes WHERE substr(name, 1, length(:start)) = :start ORDER BY name;

-- name: note_save
-- A note, in place of the one before.
INSERT INTO notes (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: lease_get
-- Who holds a lease.
SELECT name, owner, token, expires_at FROM leases WHERE name = :name;

-- name: leases_forget
-- Leases whose names begin so and that were released or expired before a moment.
DELETE FROM leases
WHERE substr(name, 1, length(:start)) = :start AND (expires_at IS NULL OR expires_at < :before);

-- name: leases_like
-- Who holds the leases whose names begin so.
SELECT name, owner, token, expires_at FROM leases WHERE substr(name, 1, length(:start)) = :start ORDER BY name;

-- name: lease_take
-- Take a lease that is free, released or expired; the token grows with each owner.
INSERT INTO leases (name, owner, token, expires_at) VALUES (:name, :owner, 1, :expires)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = leases.token + 1, expires_at = excluded.expires_at
WHERE leases.expires_at IS NULL OR leases.expires_at <= :now
RETURNING token;

-- name: lease_renew
-- The heartbeat.
UPDATE leases SET expires_at = :expires WHERE name = :name AND token = :token RETURNING token;

-- name: lease_check
-- Is this token the newest? Part of every write of a run.
SELECT 1 FROM leases WHERE name = :name AND token = :token;

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

-- name: runs_close_lost
-- Runs whose process died are not running.
UPDATE runs SET status = 'lost', stop_reason = 'error', finished_at = :now, error = 'its process ended before it did'
WHERE source_id = :source AND status = 'running';

-- name: run_insert
-- A run that stages the next generation.
INSERT INTO runs (source_id, mode, status, generation, started_at, owner)
SELECT id, :mode, 'running', last_generation + 1, :now, :owner FROM sources WHERE id = :source
RETURNING id, generation;

-- name: source_status
-- The state a source is in.
SELECT status FROM sources WHERE id = :source;

-- name: source_running
-- A run began; what an earlier run held is discarded with it.
UPDATE sources SET status = :status, last_run_at = :now, held_generation = NULL, held_reason = NULL
WHERE id = :source;

-- name: source_lost
-- The process that ran it is gone.
UPDATE sources SET status = :status, last_error_at = :now, last_error = 'its process ended before it did',
       consecutive_failures = consecutive_failures + 1
WHERE id = :source AND status = 'RUNNING';

-- name: run_finish
-- How a run ended. An activated or held generation keeps its number, any other run reports what readers see.
UPDATE runs SET status = :status, mode = :mode, stop_reason = :stop_reason, finished_at = :now, counters = :counters,
       error = :error, "window" = :window,
       generation = coalesce(:generation, (SELECT active_generation FROM sources WHERE id = :source))
WHERE id = :run;

-- name: run_progress
-- How far a run has come.
UPDATE runs SET counters = :counters WHERE id = :run AND status = 'running';

-- name: run_items_insert
-- What became of items.
COPY run_items (run_id, reference, outcome, reason, detail) FROM STDIN;

-- name: source_finish
-- The end of a run on its source; with a generation to activate this one UPDATE is what readers notice.
UPDATE sources SET
  status = :status,
  active_generation = coalesce(:activate, active_generation),
  last_generation = CASE WHEN last_generation < coalesce(:activate, :hold, 0) THEN coalesce(:activate, :hold, 0)
                    ELSE last_generation END,
  held_generation = :hold,
  held_reason = :hold_reason,
  last_success_at = CASE WHEN CAST(:status AS text) = 'SUCCESS' THEN :now ELSE last_success_at END,
  last_error_at = CASE WHEN CAST(:status AS text) = 'ERROR' THEN :now ELSE last_error_at END,
  last_error = CASE CAST(:status AS text) WHEN 'SUCCESS' THEN NULL WHEN 'ERROR' THEN :error ELSE last_error END,
  consecutive_failures = CASE CAST(:status AS text) WHEN 'SUCCESS' THEN 0 WHEN 'ERROR' THEN consecutive_failures + 1
                         ELSE consecutive_failures END,
  watermark = coalesce(:watermark, watermark),
  last_processed_date = coalesce(:processed, last_processed_date),
  metadata = coalesce(:metadata, metadata)
WHERE id = :source;

-- name: generation_insert
-- A generation readers see or a held one (without activation time).
INSERT INTO generations (source_id, number, run_id, activated_at, documents)
VALUES (:source, :number, :run, :activated_at, :documents);

-- name: runs_by_source
-- The newest runs first.
SELECT id, source_id, mode, status, generation, stop_reason, started_at, finished_at, counters, error, owner, "window"
FROM runs WHERE source_id = :source ORDER BY id DESC LIMIT :limit;

-- name: run_by_id
-- One run.
SELECT id, source_id, mode, status, generation, stop_reason, started_at, finished_at, counters, error, owner, "window"
FROM runs WHERE id = :run;

-- name: run_items_by_run
-- The items a run wrote down.
SELECT reference, outcome, reason, detail FROM run_items WHERE run_id = :run ORDER BY id;

-- name: known
-- The visible versions of a source, as a run needs them.
SELECT d.id, d.ref_id, r.reference, c.hash, d.body_hash, d.payload_hash, d.etag, d.last_modified, d.depth, d.links
FROM sources s
JOIN documents d ON d.source_id = s.id AND d.born <= s.active_generation
     AND (d.died IS NULL OR d.died > s.active_generation)
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE s.id = :source
ORDER BY d.depth, d.ref_id;

-- name: known_among
-- The same for these references only.
SELECT d.id, d.ref_id, r.reference, c.hash, d.body_hash, d.payload_hash, d.etag, d.last_modified, d.depth, d.links
FROM refs r
JOIN sources s ON s.id = r.source_id
JOIN documents d ON d.ref_id = r.id AND d.born <= s.active_generation
     AND (d.died IS NULL OR d.died > s.active_generation)
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys);

-- name: visible_references
-- What readers see, a page at a time in the order of references.
SELECT r.reference
FROM refs r
JOIN sources s ON s.id = r.source_id
WHERE r.source_id = :source AND r.reference > :after
  AND EXISTS (SELECT 1 FROM documents d WHERE d.ref_id = r.id AND d.born <= s.active_generation
              AND (d.died IS NULL OR d.died > s.active_generation))
ORDER BY r.reference LIMIT :limit;

-- name: leftovers
-- Versions beyond the active generation that were handed off, the newest of each reference last.
SELECT h.ref_id, r.reference, c.hash, h.body_hash, h.payload_hash, h.etag, h.last_modified, h.depth, h.links
FROM handoffs h
JOIN refs r ON r.id = h.ref_id
JOIN contents c ON c.id = h.content_id
WHERE h.source_id = :source
  AND h.generation > (SELECT active_generation FROM sources WHERE id = :source)
ORDER BY h.updated_at, h.id;

-- name: leftovers_among
-- Versions beyond the active generation of these references.
SELECT h.ref_id, r.reference, c.hash, h.body_hash, h.payload_hash, h.etag, h.last_modified, h.depth, h.links
FROM refs r
JOIN handoffs h ON h.ref_id = r.id
JOIN contents c ON c.id = h.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys)
  AND h.generation > (SELECT active_generation FROM sources WHERE id = :source)
ORDER BY h.updated_at, h.id;

-- name: metadata_by_source
-- The metadata of what readers see.
SELECT r.reference, d.metadata FROM documents_active d JOIN refs r ON r.id = d.ref_id WHERE d.source_id = :source;

-- name: refs_by_source
-- Every address ever met in a source.
SELECT id, reference, alias_of FROM refs WHERE source_id = :source;

-- name: refs_by_id
-- The addresses with these ids.
SELECT id, reference FROM refs WHERE id IN list(:ids);

-- name: ref_alias
-- Another name of a reference.
UPDATE refs SET alias_of = :of WHERE id = :ref;

-- name: listings_by_source
-- Remembered listings.
SELECT url, etag, last_modified, payload FROM listings WHERE source_id = :source;

-- name: contents_find
-- Contents by their address.
SELECT hash, id, sectioned FROM contents WHERE hash IN list(:hashes);

-- name: contents_insert
-- Texts met for the first time.
COPY contents (hash, text) FROM STDIN;

-- name: contents_to_section
-- Of these contents, the ones whose sections are still missing.
SELECT id FROM contents WHERE id IN list(:ids) AND NOT sectioned ORDER BY id;

-- name: contents_sectioned
-- Their sections are complete.
UPDATE contents SET sectioned = true WHERE id IN list(:ids);

-- name: sections_insert
-- Places in contents.
COPY sections (content_id, position, level, parent, heading, anchor, start_at, end_at, passage_id) FROM STDIN;

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

-- name: handoff_revive
-- An interrupted run's handoff, taken up by this run as it stands.
UPDATE handoffs SET run_id = :run, generation = :generation, status = 'queued', reason_code = :reason,
       attempts = :attempts, last_error = NULL, updated_at = :now
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

-- name: handoffs_start
-- The attempt counts from its start, so that a crash counts too.
UPDATE handoffs SET status = 'running', reason_code = 'ingestion_job_queued', attempts = attempts + 1, updated_at = :now
WHERE id IN list(:ids);

-- name: handoff_settle
-- How an attempt ended.
UPDATE handoffs SET status = :status, reason_code = :reason, last_error = :error, updated_at = :now WHERE id = :handoff;

-- name: handoffs_complete
-- Attempts that ended well.
UPDATE handoffs SET status = 'completed', reason_code = :reason, last_error = NULL, updated_at = :now
WHERE id IN list(:ids);

-- name: handoffs_supersede
-- Unfinished handoffs of earlier runs: a newer generation made them pointless.
UPDATE handoffs SET status = 'failed', reason_code = 'superseded', updated_at = :now
WHERE source_id = :source AND status IN ('queued', 'running') AND run_id <> :run;

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

-- name: handoffs_not_done
-- Of these handoffs, the ones no other worker has completed.
SELECT id FROM handoffs WHERE id IN list(:ids) AND status <> 'completed' ORDER BY id;

-- name: run_share_insert
-- What a worker did for a run.
INSERT INTO run_shares (run_id, counters) VALUES (:run, :counters);

-- name: run_shares
-- What workers did for a run.
SELECT counters FROM run_shares WHERE run_id = :run;

-- name: passages_find
-- Passages by their address.
SELECT hash, id FROM passages WHERE hash IN list(:hashes);

-- name: passage_states
-- Which passages exist, and which of them have a vector under a model.
SELECT p.hash, p.id, EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model)
FROM passages p WHERE p.hash IN list(:hashes);

-- name: model_find
-- A model by what makes it that model.
SELECT id FROM models WHERE name = :name AND digest = :digest AND dimensions = :dimensions;

-- name: model_insert
-- A model met for the first time.
INSERT INTO models (name, digest, dimensions) VALUES (:name, :digest, :dimensions) RETURNING id;

-- name: embedding_gap
-- Visible passages in all, the ones without a vector under a model, and the characters of those.
SELECT count(*), count(*) FILTER (WHERE missing), CAST(coalesce(sum(size) FILTER (WHERE missing), 0) AS bigint)
FROM (
  SELECT length(p.text) + length(p.heading_path) + 1 AS size,
         NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model) AS missing
  FROM passages p
  WHERE p.id IN (SELECT s.passage_id FROM documents_active d JOIN sections s ON s.content_id = d.content_id
                 WHERE CAST(:source AS bigint) IS NULL OR d.source_id = :source)
) AS visible;

-- name: unembedded
-- Visible passages without a vector under a model.
SELECT p.hash, p.heading_path, p.text FROM passages p
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model)
  AND EXISTS (SELECT 1 FROM sections s JOIN documents_active d ON d.content_id = s.content_id
              WHERE s.passage_id = p.id)
LIMIT :limit;

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

-- name: documents_unborn
-- Versions of these references that were to be born at a generation.
DELETE FROM documents WHERE source_id = :source AND born = :generation AND ref_id IN list(:refs);

-- name: documents_retire
-- What is visible of these references dies at a generation.
UPDATE documents SET died = :generation WHERE source_id = :source AND died IS NULL AND ref_id IN list(:refs);

-- name: document_refresh
-- New validators for the same text.
UPDATE documents SET etag = :etag, last_modified = :last_modified, body_hash = :body_hash,
       links = coalesce(:links, links)
WHERE id = :document;

-- name: generations_by_source
-- The generations that can still be shown.
SELECT g.number, g.run_id, g.activated_at, g.documents, g.number = s.active_generation
FROM generations g JOIN sources s ON s.id = g.source_id
WHERE g.source_id = :source ORDER BY g.number;

-- name: activate
-- Move the pointer: one row. An approved generation is a success, and its error is forgotten.
UPDATE sources SET active_generation = :generation,
       status = CASE WHEN held_generation = :generation THEN 'SUCCESS' ELSE status END,
       last_error = CASE WHEN held_generation = :generation THEN NULL ELSE last_error END,
       last_success_at = CASE WHEN held_generation = :generation THEN :now ELSE last_success_at END,
       consecutive_failures = CASE WHEN held_generation = :generation THEN 0 ELSE consecutive_failures END,
       held_generation = NULL, held_reason = NULL,
       last_generation = CASE WHEN last_generation < :generation THEN :generation ELSE last_generation END
WHERE id = :source;

-- name: generation_activated
-- A held generation is shown for the first time.
UPDATE generations SET activated_at = coalesce(activated_at, :now) WHERE source_id = :source AND number = :generation;

-- name: generation_run
-- The run that made a generation, and whether readers saw it before.
SELECT run_id, activated_at IS NOT NULL FROM generations WHERE source_id = :source AND number = :generation;

-- name: versions_at
-- Documents of a source that are visible at one generation and not at another.
SELECT d.ref_id, r.reference, d.url, d.title, d.content_id
FROM documents d JOIN refs r ON r.id = d.ref_id
WHERE d.source_id = :source
  AND d.born <= :at AND (d.died IS NULL OR d.died > :at)
  AND NOT (d.born <= :other AND (d.died IS NULL OR d.died > :other));

-- name: section_paths
-- The passages of these contents with their heading paths.
SELECT s.content_id, p.id, p.heading_path FROM sections s JOIN passages p ON p.id = s.passage_id
WHERE s.content_id IN list(:contents) ORDER BY s.content_id, s.position;

-- name: vacuum_documents
-- Documents that died before the kept history.
DELETE FROM documents WHERE source_id = :source AND died IS NOT NULL AND died <= :floor RETURNING content_id;

-- name: vacuum_handoffs
-- Finished handoffs of generations before the kept history.
DELETE FROM handoffs WHERE source_id = :source AND generation < :floor AND status IN ('completed', 'failed')
RETURNING content_id;

-- name: vacuum_generations
-- Generations before the kept history.
DELETE FROM generations WHERE source_id = :source AND number < :floor;

-- name: contents_unused
-- The contents no document and no handoff uses: a scan.
SELECT id FROM contents c
WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM handoffs h WHERE h.content_id = c.id);

-- name: contents_passages
-- The passages these contents point at.
SELECT DISTINCT passage_id FROM sections WHERE content_id IN list(:ids);

-- name: contents_delete
-- Contents with their sections.
DELETE FROM contents WHERE id IN list(:ids);

-- name: passages_unused
-- The passages no section points at: a scan.
SELECT id FROM passages p WHERE NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = p.id);

-- name: vectors_delete
-- The vectors of these passages.
DELETE FROM vectors WHERE passage_id IN list(:ids);

-- name: passages_delete
-- The passages themselves, with their words.
DELETE FROM passages WHERE id IN list(:ids);

-- name: places
-- Where readers can see these passages.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor
FROM sections s
JOIN documents_active d ON d.content_id = s.content_id
JOIN refs r ON r.id = d.ref_id
WHERE s.passage_id IN list(:passages)

-- name: passage_texts
-- What these passages say.
SELECT id, heading_path, text FROM passages WHERE id IN list(:ids);

-- name: document_places
-- A document from its first section to its last.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN sections s ON s.content_id = d.content_id
WHERE d.id = :document ORDER BY s.position;

-- name: documents_page
-- What readers see of a source, a page at a time in the order of references.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.metadata, d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, CASE WHEN :text THEN c.text END
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference > :after
ORDER BY r.reference LIMIT :limit;

-- name: documents_among
-- What readers see of these references.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.metadata, d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, CASE WHEN :text THEN c.text END
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.reference IN keys(:keys)
ORDER BY r.reference;

-- name: document_by_id
-- One document that readers see, with its text.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.metadata, d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, c.text
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE d.id = :document;

-- name: activation_insert
-- A generation was shown, in place of the one before; a rollback has no run.
INSERT INTO activations (source_id, generation, previous, run_id, at)
SELECT id, :generation, active_generation, :run, :now FROM sources WHERE id = :source;

-- name: activation_next
-- The first activation from a number on.
SELECT a.id, a.source_id, CASE WHEN s.version = '' THEN s.name ELSE s.name || '@' || s.version END, s.kind,
       a.generation, a.previous, a.run_id, a.at
FROM activations a JOIN sources s ON s.id = a.source_id
WHERE a.id >= :first AND (:everywhere OR a.source_id IN list(:sources))
ORDER BY a.id LIMIT 1;

-- name: activation_newest
-- The last activation there was.
SELECT max(id) FROM activations;

-- name: touched_by_run
-- What a run changed for readers.
SELECT id, reference, outcome FROM run_items
WHERE run_id = :run AND id > :after AND outcome IN ('created', 'updated', 'deleted', 'skipped')
ORDER BY id LIMIT :limit;

-- name: touched_between
-- What the runs between two generations had changed: a rollback changes it back.
SELECT i.id, i.reference, 'updated' FROM run_items i JOIN runs r ON r.id = i.run_id
WHERE r.source_id = :source AND r.generation > :low AND r.generation <= :high
  AND i.id > :after AND i.outcome IN ('created', 'updated', 'deleted', 'skipped')
ORDER BY i.id LIMIT :limit;

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

-- name: token_insert
-- A new token: its hash, never itself.
INSERT INTO tokens (name, digest, scope, created_at) VALUES (:name, :digest, :scope, :now) ON CONFLICT DO NOTHING
RETURNING id, name, scope, created_at, last_used_at;

-- name: tokens_all
-- Every token.
SELECT id, name, scope, created_at, last_used_at FROM tokens ORDER BY name;

-- name: token_find
-- The token with this hash.
SELECT id, name, scope, created_at, last_used_at FROM tokens WHERE digest = :digest;

-- name: token_used
-- When a token was last used.
UPDATE tokens SET last_used_at = :now WHERE id = :token;

-- name: token_delete
-- A token that is no longer accepted.
DELETE FROM tokens WHERE name = :name;

-- name: request_find
-- What a waiting request asks for.
SELECT "only", "full" FROM sync_requests WHERE source_id = :source;

-- name: request_insert
-- The first request for a source.
INSERT INTO sync_requests (source_id, number, "only", "full", reason, requested_at)
VALUES (:source, 1, :only, :full, :reason, :now)
RETURNING source_id, number, "only", "full", reason, requested_at;

-- name: request_join
-- The waiting request after another joined it; its place in the queue stays.
UPDATE sync_requests SET number = number + 1, "only" = :only, "full" = :full, reason = :reason
WHERE source_id = :source
RETURNING source_id, number, "only", "full", reason, requested_at;

-- name: requests_all
-- The longest waiting first.
SELECT source_id, number, "only", "full", reason, requested_at FROM sync_requests
ORDER BY requested_at, source_id;

-- name: request_delete
-- A request that no other joined since; the time tells it from a later one, whose numbers begin anew.
DELETE FROM sync_requests WHERE source_id = :source AND number = :number AND requested_at = :at;

-- name: deliveries_forget
-- Deliveries so old that they are not repeated any more.
DELETE FROM deliveries WHERE at < :before;

-- name: projection_get
-- How far the projection has come, and the highest ids it gave.
SELECT activation, item, last_offer_id, last_company_id FROM projections WHERE name = 'companies';

-- name: projection_save
-- How far the projection has come; its cursor may stay where it is.
INSERT INTO projections (name, activation, item, last_offer_id, last_company_id)
VALUES ('companies', coalesce(CAST(:activation AS bigint), 0), coalesce(CAST(:item AS bigint), 0),
        :last_offer_id, :last_company_id)
ON CONFLICT (name) DO UPDATE SET
  activation = coalesce(CAST(:activation AS bigint), projections.activation),
  item = coalesce(CAST(:item AS bigint), projections.item),
  last_offer_id = excluded.last_offer_id,
  last_company_id = excluded.last_company_id;

-- name: sources_of_kinds
-- The sources of these kinds.
SELECT id FROM sources WHERE kind IN list(:kinds);

-- name: sightings_orphaned
-- Sightings whose source was removed.
SELECT id, offer_id FROM offer_sightings WHERE source_id IS NULL ORDER BY offer_id LIMIT :limit;

-- name: offers_at
-- The offers at these references of a source.
SELECT offer_id FROM offer_sightings WHERE source_id = :source AND reference IN keys(:keys);

-- name: offers_named
-- Offers by what their board calls them.
SELECT id FROM offers WHERE provider = :provider AND external_id IN keys(:keys);

-- name: offers_by_id
-- Offers.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE id IN list(:ids);

-- name: offers_alike
-- Offers with one of these fingerprints.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE fingerprint IN list(:fingerprints);

-- name: offers_of_companies
-- All offers of these companies.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE company_id IN list(:companies);

-- name: sightings_of
-- Where these offers are seen, or were.
SELECT offer_id, source_id, reference, gone_at FROM offer_sightings
WHERE offer_id IN list(:offers) AND source_id IS NOT NULL;

-- name: companies_with_keys
-- The companies that are known by one of these keys.
SELECT DISTINCT company_id FROM company_keys WHERE key IN keys(:keys);

-- name: companies_by_id
-- Companies as they are recognised, and what people say about them.
SELECT id, name, website, resolution FROM companies WHERE id IN list(:ids) ORDER BY id;

-- name: company_keys_of
-- The keys of these companies.
SELECT company_id, key FROM company_keys WHERE company_id IN list(:companies);

-- name: company_save
-- A company; what people say about it stays.
INSERT INTO companies (id, name, website) VALUES (:id, :name, :website)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, website = excluded.website;

-- name: company_move_offers
-- The offers of a company that turned out to be another.
UPDATE offers SET company_id = :into WHERE company_id = :gone;

-- name: company_move_ids
-- The ids under which it was known before.
UPDATE companies_merged SET company_id = :into WHERE company_id = :gone;

-- name: company_merged
-- Its own id goes on to mean the other.
INSERT INTO companies_merged (id, company_id) VALUES (:gone, :into);

-- name: company_delete
-- A company that turned out to be another.
DELETE FROM companies WHERE id = :gone;

-- name: companies_forget
-- Those of these companies that have no offer and of which people say nothing.
DELETE FROM companies WHERE id IN list(:ids) AND resolution = ''
  AND NOT EXISTS (SELECT 1 FROM offers o WHERE o.company_id = companies.id);

-- name: resolution_save
-- What people say about a company.
UPDATE companies SET resolution = :text, resolution_at = :now WHERE id = :id AND resolution <> :text;

-- name: resolution_move
-- What people said about two companies that are one, with the time when they last did.
UPDATE companies SET resolution = :text,
       resolution_at = (SELECT max(t.resolution_at) FROM companies t WHERE t.id IN (:gone, :into))
WHERE id = :into;

-- name: company_current
-- The id under which a company goes on.
SELECT id FROM companies WHERE id = :id UNION ALL SELECT company_id FROM companies_merged WHERE id = :id;

-- name: offer_repost
-- The offer that this one repeats.
UPDATE offers SET repost_of = :first WHERE id = :offer;

-- name: offers_delete
-- Offers of which no source is left.
DELETE FROM offers WHERE id IN list(:ids);

-- name: sightings_delete
-- Sightings whose source was removed.
DELETE FROM offer_sightings WHERE id IN list(:ids);

-- name: companies_page
-- Companies by parts of their names and domains, by their open offers, and by the sources that saw one.
SELECT c.id FROM companies c
WHERE c.id > :after
  AND (:everyone OR c.id IN list(:ids)
       OR c.id IN (SELECT m.company_id FROM companies_merged m WHERE m.id IN list(:ids)))
  AND (CAST(:query AS text) IS NULL OR instr(lower(c.name), lower(:query)) > 0
       OR EXISTS (SELECT 1 FROM company_keys k WHERE k.company_id = c.id
                  AND ((k.key LIKE 'name:%' AND :name <> '' AND instr(substr(k.key, 6), :name) > 0)
                       OR (k.key LIKE 'domain:%' AND instr(substr(k.key, 8), lower(:query)) > 0))))
  AND (:min_open = 0
       OR (SELECT count(*) FROM offers o WHERE o.company_id = c.id AND o.closed_at IS NULL) >= :min_open)
  AND (:everywhere OR EXISTS (SELECT 1 FROM offers o JOIN offer_sightings g ON g.offer_id = o.id
                              WHERE o.company_id = c.id AND g.source_id IN list(:sources)))
ORDER BY c.id LIMIT :limit;

-- name: offers_looked_at
-- When a source with offers was last read without an error.
SELECT max(s.last_success_at) FROM sources s
WHERE EXISTS (SELECT 1 FROM offer_sightings g WHERE g.source_id = s.id);

-- name: offer_sources
-- The sources that see these offers, or saw them last.
SELECT g.offer_id, CASE WHEN s.version = '' THEN s.name ELSE s.name || '@' || s.version END, g.gone_at
FROM offer_sightings g JOIN sources s ON s.id = g.source_id
WHERE g.offer_id IN list(:offers) ORDER BY s.name, s.version;

-- name: question_insert
-- A page of a run for a worker to ask for.
INSERT INTO questions (run_id, host, asked) VALUES (:run, :host, :asked) RETURNING id;

-- name: turn_begin
-- The next turn at a host that no worker has; no row while one has it, and even then the host is locked.
INSERT INTO shard_turns (run_id, host, turn, out) VALUES (:run, :host, 1, true)
ON CONFLICT (run_id, host) DO UPDATE SET turn = shard_turns.turn + 1, out = true WHERE NOT shard_turns.out
RETURNING turn;

-- name: turn_seize
-- The next turn at a host, also when a worker has the one before.
INSERT INTO shard_turns (run_id, host, turn, out) VALUES (:run, :host, 1, true)
ON CONFLICT (run_id, host) DO UPDATE SET turn = shard_turns.turn + 1, out = true
RETURNING turn;

-- name: turn_move
-- The turn that a worker has from now on. When none does (`out` is false) the number stays, so that it is not given again.
UPDATE shard_turns SET turn = :turn, out = :out WHERE run_id = :run AND host = :host;

-- name: questions_again
-- What a turn took and has not answered, for the worker that has its ticket now.
UPDATE questions SET attempts = attempts + 1
WHERE run_id = :run AND host = :host AND turn = :turn AND answer IS NULL
RETURNING id, asked, attempts;

-- name: questions_claim
-- The oldest questions that no turn has taken.
UPDATE questions SET turn = :turn, attempts = attempts + 1
WHERE id IN (
  SELECT id FROM questions
  WHERE run_id = :run AND host = :host AND turn IS NULL AND answer IS NULL
  ORDER BY id LIMIT :limit
)
RETURNING id, asked, attempts;

-- name: question_waiting
-- The oldest question that no turn has taken. By its order, so that the server does not look through all questions.
SELECT id FROM questions WHERE run_id = :run AND host = :host AND turn IS NULL AND answer IS NULL ORDER BY id LIMIT 1;

-- name: questions_free
-- What turns took and have not answered is free again.
UPDATE questions SET turn = NULL
WHERE run_id = :run AND host = :host AND turn IS NOT NULL AND answer IS NULL;

-- name: question_answer
-- The first answer stands.
UPDATE questions SET answer = :answer WHERE id = :question AND run_id = :run AND answer IS NULL;

-- name: answers_take
-- Questions that were answered go with their answers.
DELETE FROM questions WHERE run_id = :run AND answer IS NOT NULL RETURNING id, answer;

-- name: shards_left
-- The runs of a source that asked workers for pages, and have not forgotten it yet.
SELECT DISTINCT t.run_id FROM shard_turns t JOIN runs r ON r.id = t.run_id WHERE r.source_id = :source;

-- name: turns_forget
-- A run's turns go when it is over.
DELETE FROM shard_turns WHERE run_id = :run;

-- name: questions_forget
-- A run's questions go when it is over.
DELETE FROM questions WHERE run_id = :run;

-- name: vectors_there
-- Of these passages, the ones that have a vector under a model.
SELECT passage_id FROM vectors WHERE model_id = :model AND passage_id IN list(:passages);

-- name: contents_unused_among
-- Of these contents, the ones no document and no handoff uses.
SELECT id FROM contents c
WHERE id IN list(:ids)
  AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM handoffs h WHERE h.content_id = c.id);

-- name: passages_unused_among
-- Of these passages, the ones no section points at.
SELECT id FROM passages p
WHERE id IN list(:ids) AND NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = p.id);

-- name: fingerprints_of
-- The fingerprints of the offers of these companies.
SELECT DISTINCT fingerprint FROM offers WHERE company_id IN list(:companies);

-- name: turn_get
-- The last turn at a host, and whether a worker has it.
SELECT turn, out FROM shard_turns WHERE run_id = :run AND host = :host;

-- name: answers_any
-- Was a page of a run answered? Also true when its lease has another owner: taking the answers then fails.
SELECT EXISTS (SELECT 1 FROM questions WHERE run_id = :run AND answer IS NOT NULL)
       OR NOT EXISTS (SELECT 1 FROM leases WHERE name = :name AND token = :token);
