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

-- name: source_params
-- Other settings; whoever changes them has mended what was wrong.
UPDATE sources SET params = :params, metadata = metadata - 'fatal' WHERE id = :source;

-- name: source_paused
-- Paused or resumed by a person; whoever resumes it has mended what was wrong.
UPDATE sources SET paused = :paused, metadata = CASE WHEN :paused THEN metadata ELSE metadata - 'fatal' END
WHERE id = :source;

-- name: source_stats
-- How much readers see of a source.
SELECT count(*), coalesce(sum((SELECT count(*) FROM sections s WHERE s.content_id = d.content_id)), 0)::bigint,
       coalesce(sum((SELECT length(c.text) FROM contents c WHERE c.id = d.content_id)), 0)::bigint
FROM documents_active d WHERE d.source_id = :source;

-- name: source_delete
-- A source with everything that belongs to it alone.
DELETE FROM sources WHERE id = :source;

-- name: pause_save
-- Leave a client alone until then.
INSERT INTO pauses (client, until, reason) VALUES (:client, :until, :reason)
ON CONFLICT (client) DO UPDATE SET until = excluded.until, reason = excluded.reason;

-- name: pauses_now
-- Clients that must be left alone now.
SELECT client, until, reason FROM pauses WHERE until > :now ORDER BY client;

-- name: note_get
-- A note by its name.
SELECT value FROM notes WHERE name = :name;

-- name: notes_like
-- The notes whose names begin so.
SELECT name, value FROM notes WHERE starts_with(name, :start) ORDER BY name;

-- name: note_save
-- A note, in place of the one before.
INSERT INTO notes (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: lease_get
-- Who holds a lease.
SELECT name, owner, token, expires_at FROM leases WHERE name = :name AND expires_at IS NOT NULL;

-- name: leases_forget
-- Leases whose names begin so and that nobody holds any more.
DELETE FROM leases WHERE starts_with(name, :start) AND (expires_at IS NULL OR expires_at < :before);

-- name: leases_like
-- Who holds the leases whose names begin so.
SELECT name, owner, token, expires_at FROM leases
WHERE starts_with(name, :start) AND expires_at IS NOT NULL ORDER BY name;

-- name: lease_take
-- Take a lease that is free, released or expired; the token grows with each owner.
INSERT INTO leases (name, owner, token, expires_at) VALUES (:name, :owner, 1, :expires)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = leases.token + 1, expires_at = excluded.expires_at
WHERE leases.expires_at IS NULL OR leases.expires_at <= :now
RETURNING token;

-- name: lease_renew
-- The heartbeat.
UPDATE leases SET expires_at = :expires WHERE name = :name AND token = :token RETURNING token;

-- name: lease_release
-- Released on purpose: the row stays, so that tokens keep growing.
UPDATE leases SET expires_at = NULL WHERE name = :name AND token = :token;

-- name: lease_check
-- Is this token the newest? Part of every write of a run; nobody can take the lease over before it ends.
SELECT 1 FROM leases WHERE name = :name AND token = :token FOR KEY SHARE;

-- name: discard_births
-- Half of the one rule that cleans up: what was born beyond the active generation never was.
DELETE FROM documents
WHERE source_id = :source AND born > (SELECT active_generation FROM sources WHERE id = :source);

-- name: discard_deaths
-- The other half: what died beyond the active generation lives.
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
  last_generation = greatest(last_generation, coalesce(:activate, :hold, 0)),
  held_generation = :hold,
  held_reason = :hold_reason,
  last_success_at = CASE WHEN :status::text = 'SUCCESS' THEN :now ELSE last_success_at END,
  last_error_at = CASE WHEN :status::text = 'ERROR' THEN :now ELSE last_error_at END,
  last_error = CASE :status::text WHEN 'SUCCESS' THEN NULL WHEN 'ERROR' THEN :error ELSE last_error END,
  consecutive_failures = CASE :status::text WHEN 'SUCCESS' THEN 0 WHEN 'ERROR' THEN consecutive_failures + 1
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
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE d.source_id = :source
ORDER BY d.depth, d.ref_id;

-- name: known_among
-- The same for these references only.
SELECT d.id, d.ref_id, r.reference, c.hash, d.body_hash, d.payload_hash, d.etag, d.last_modified, d.depth, d.links
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.digest = ANY (:digests);

-- name: visible_references
-- What readers see, a page at a time in the order of references; the index has the beginning of each.
SELECT r.reference
FROM refs r
WHERE r.source_id = :source AND left(r.reference, 500) >= left(:after, 500) AND r.reference > :after
  AND EXISTS (SELECT 1 FROM documents_active d WHERE d.ref_id = r.id)
ORDER BY left(r.reference, 500), r.reference LIMIT :limit;

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
-- The same for these references only.
SELECT h.ref_id, r.reference, c.hash, h.body_hash, h.payload_hash, h.etag, h.last_modified, h.depth, h.links
FROM refs r
JOIN handoffs h ON h.ref_id = r.id
JOIN contents c ON c.id = h.content_id
WHERE r.source_id = :source AND r.digest = ANY (:digests)
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
SELECT id, reference FROM refs WHERE id = ANY (:ids);

-- name: refs_find
-- The ids of these addresses, where they have one.
SELECT digest, id FROM refs WHERE source_id = :source AND digest = ANY (:digests);

-- name: refs_insert
-- Addresses met for the first time.
COPY refs (source_id, digest, reference) FROM STDIN;

-- name: ref_alias
-- Another name of a reference.
UPDATE refs SET alias_of = :of WHERE id = :ref;

-- name: listings_by_source
-- Remembered listings.
SELECT url, etag, last_modified, payload FROM listings WHERE source_id = :source;

-- name: listing_save
-- Remember a listing.
INSERT INTO listings (source_id, digest, url, etag, last_modified, payload)
VALUES (:source, :digest, :url, :etag, :last_modified, :payload)
ON CONFLICT (source_id, digest) DO UPDATE SET
  etag = excluded.etag, last_modified = excluded.last_modified, payload = excluded.payload;

-- name: texts_used
-- Held by whoever is about to point at a text, so that nobody forgets it meanwhile.
SELECT pg_advisory_xact_lock_shared(:key, hashtext(current_schema() || ' texts'));

-- name: texts_forgotten
-- Held by whoever forgets texts that nothing points at.
SELECT pg_advisory_xact_lock(:key, hashtext(current_schema() || ' texts'));

-- name: contents_find
-- Contents by their address.
SELECT hash, id, sectioned FROM contents WHERE hash = ANY (:hashes);

-- name: contents_insert
-- Texts met for the first time.
COPY contents (hash, text) FROM STDIN;

-- name: contents_to_section
-- Of these contents, the ones whose sections are still missing; nobody else adds them meanwhile.
SELECT id FROM contents WHERE id = ANY (:ids) AND NOT sectioned ORDER BY id FOR NO KEY UPDATE;

-- name: contents_sectioned
-- Their sections are complete.
UPDATE contents SET sectioned = true WHERE id = ANY (:ids);

-- name: sections_insert
-- Places in contents.
COPY sections (content_id, position, level, parent, heading, anchor, start_at, end_at, passage_id) FROM STDIN;

-- name: handoffs_find
-- The handoffs of these payloads of these references.
SELECT h.ref_id, h.payload_hash, h.id, h.status, h.attempts
FROM unnest(:refs::bigint[], :payloads::bytea[]) AS wanted (ref_id, payload_hash)
JOIN handoffs h USING (ref_id, payload_hash);

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
SELECT DISTINCT ON (h.ref_id)
       h.id, h.ref_id, r.reference, h.content_id, c.sectioned, h.status, h.attempts, h.url, h.title, c.text, c.hash,
       h.body_hash, h.etag, h.last_modified, h.content_type, h.depth, h.links, h.metadata
FROM refs r
JOIN handoffs h ON h.ref_id = r.id
JOIN contents c ON c.id = h.content_id
WHERE r.source_id = :source AND r.digest = ANY (:digests)
ORDER BY h.ref_id, h.updated_at DESC, h.id DESC;

-- name: handoffs_start
-- The attempt counts from its start, so that a crash counts too.
UPDATE handoffs SET status = 'running', reason_code = 'ingestion_job_queued', attempts = attempts + 1, updated_at = :now
WHERE id = ANY (:ids);

-- name: handoff_settle
-- How an attempt ended.
UPDATE handoffs SET status = :status, reason_code = :reason, last_error = :error, updated_at = :now WHERE id = :handoff;

-- name: handoffs_complete
-- Attempts that ended well, each with its reason.
UPDATE handoffs h SET status = 'completed', reason_code = done.reason, last_error = NULL, updated_at = :now
FROM unnest(:ids::bigint[], :reasons::text[]) AS done (id, reason) WHERE h.id = done.id;

-- name: handoffs_supersede
-- Unfinished handoffs of earlier runs: a newer generation made them pointless.
UPDATE handoffs SET status = 'failed', reason_code = 'superseded', updated_at = :now
WHERE source_id = :source AND status IN ('queued', 'running') AND run_id <> :run;

-- name: handoffs_list
-- Handoffs, newest first.
SELECT h.id, s.name, r.reference, h.payload_hash, h.run_id, h.generation, h.status, h.reason_code, h.attempts,
       h.last_error, h.created_at, h.updated_at
FROM handoffs h JOIN refs r ON r.id = h.ref_id JOIN sources s ON s.id = h.source_id
WHERE (:source::bigint IS NULL OR h.source_id = :source)
  AND (:status::text IS NULL OR h.status = :status)
  AND (:run::bigint IS NULL OR h.run_id = :run)
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
-- A failed handoff gets another life.
UPDATE handoffs SET status = 'queued', reason_code = :reason, attempts = 0, last_error = NULL, updated_at = :now
WHERE id = :handoff AND status = 'failed';

-- name: handoff_cancel
-- A handoff that has not ended ends here.
UPDATE handoffs SET status = 'failed', reason_code = :reason, updated_at = :now
WHERE id = :handoff AND status IN ('queued', 'running');

-- name: handoffs_staged
-- Handoffs that wait for ingestion or whose ingestion did not end, with their texts.
SELECT h.id, h.ref_id, r.reference, h.content_id, c.sectioned, h.status, h.attempts, h.url, h.title, c.text, c.hash,
       h.body_hash, h.etag, h.last_modified, h.content_type, h.depth, h.links, h.metadata
FROM handoffs h
JOIN refs r ON r.id = h.ref_id
JOIN contents c ON c.id = h.content_id
WHERE h.id = ANY (:ids) AND h.run_id = :run AND (h.status = 'queued' OR (:begun AND h.status = 'running'))
ORDER BY h.id LIMIT :limit;

-- name: handoffs_settled
-- Of these handoffs, the ones that ended, and why.
SELECT h.id, r.reference, h.reason_code FROM handoffs h JOIN refs r ON r.id = h.ref_id
WHERE h.id = ANY (:ids) AND h.status IN ('completed', 'failed');

-- name: handoffs_not_done
-- Of these handoffs, the ones no other worker has completed; nobody else does meanwhile.
SELECT id FROM handoffs WHERE id = ANY (:ids) AND status <> 'completed' ORDER BY id FOR NO KEY UPDATE;

-- name: run_share_insert
-- What a worker did for a run.
INSERT INTO run_shares (run_id, counters) VALUES (:run, :counters);

-- name: run_shares
-- What workers did for a run.
SELECT counters FROM run_shares WHERE run_id = :run;

-- name: passages_find
-- Passages by their address.
SELECT hash, id FROM passages WHERE hash = ANY (:hashes);

-- name: passage_states
-- Which passages exist, and which of them have a vector under a model.
SELECT p.hash, p.id, EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model)
FROM passages p WHERE p.hash = ANY (:hashes);

-- name: passages_insert
-- Passages met for the first time, with their words: those of the headings in class A, the others in D.
INSERT INTO passages (hash, heading_path, text, words)
SELECT hash, heading_path, text,
       setweight(to_tsvector('rowen', heading_words), 'A') || setweight(to_tsvector('rowen', text_words), 'D')
FROM unnest(:hashes::bytea[], :heading_paths::text[], :texts::text[], :heading_words::text[], :text_words::text[])
     AS fresh (hash, heading_path, text, heading_words, text_words)
RETURNING hash, id;

-- name: model_find
-- A model by what makes it that model.
SELECT id FROM models WHERE name = :name AND digest = :digest AND dimensions = :dimensions;

-- name: model_insert
-- A model met for the first time.
INSERT INTO models (name, digest, dimensions) VALUES (:name, :digest, :dimensions) RETURNING id;

-- name: vectors_missing
-- Of these passages, the ones without a vector under a model.
SELECT wanted.id FROM unnest(:passages::bigint[]) AS wanted (id)
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = wanted.id AND v.model_id = :model);

-- name: vectors_insert
-- Embeddings of passages, once per model.
COPY vectors (passage_id, model_id, vector, embedding) FROM STDIN;

-- name: models_to_index
-- Models with so many vectors that comparing all of them takes too long, and no index yet.
SELECT m.id, m.dimensions FROM models m
WHERE m.dimensions <= :longest
  AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = to_regclass('vectors_near_' || m.id) AND i.indisvalid)
  AND (SELECT count(*) FROM (SELECT 1 FROM vectors v WHERE v.model_id = m.id LIMIT :enough + 1) AS counted) > :enough;

-- name: model_indexed
-- Has a model an index that is ready?
SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass('vectors_near_' || :model::bigint);

-- name: embedding_gap
-- Visible passages in all, the ones without a vector under a model, and the characters of those.
SELECT count(*), count(*) FILTER (WHERE missing), coalesce(sum(size) FILTER (WHERE missing), 0)::bigint
FROM (
  SELECT length(p.text) + length(p.heading_path) + 1 AS size,
         NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model) AS missing
  FROM passages p
  WHERE p.id IN (SELECT s.passage_id FROM documents_active d JOIN sections s ON s.content_id = d.content_id
                 WHERE :source::bigint IS NULL OR d.source_id = :source)
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
UPDATE documents SET died = :generation WHERE source_id = :source AND died IS NULL AND ref_id = ANY (:refs);

-- name: documents_insert
-- Versions of references are born.
INSERT INTO documents (source_id, ref_id, content_id, url, title, metadata, content_type, etag, last_modified,
                       body_hash, payload_hash, depth, links, fetched_at, born)
SELECT h.source_id, h.ref_id, h.content_id, h.url, h.title, h.metadata, h.content_type, h.etag, h.last_modified,
       h.body_hash, h.payload_hash, h.depth, h.links, :now, :generation
FROM unnest(:handoffs::bigint[]) WITH ORDINALITY AS done (id, place)
JOIN handoffs h ON h.id = done.id
ORDER BY done.place;

-- name: documents_unborn
-- Versions of these references that were to be born at a generation: they never were.
DELETE FROM documents WHERE source_id = :source AND born = :generation AND ref_id = ANY (:refs);

-- name: documents_retire
-- What is visible of these references dies at a generation.
UPDATE documents SET died = :generation WHERE source_id = :source AND died IS NULL AND ref_id = ANY (:refs);

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
-- Move the pointer: one row. An approved generation is a success, and what was said against it is over.
UPDATE sources SET active_generation = :generation,
       status = CASE WHEN held_generation = :generation THEN 'SUCCESS' ELSE status END,
       last_error = CASE WHEN held_generation = :generation THEN NULL ELSE last_error END,
       last_success_at = CASE WHEN held_generation = :generation THEN :now ELSE last_success_at END,
       consecutive_failures = CASE WHEN held_generation = :generation THEN 0 ELSE consecutive_failures END,
       held_generation = NULL, held_reason = NULL,
       last_generation = greatest(last_generation, :generation)
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
WHERE s.content_id = ANY (:contents) ORDER BY s.content_id, s.position;

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
-- Of these contents (or of all), the ones nobody uses.
SELECT id FROM contents c
WHERE (:everything OR id = ANY (:ids))
  AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM handoffs h WHERE h.content_id = c.id);

-- name: contents_passages
-- The passages these contents point at.
SELECT DISTINCT passage_id FROM sections WHERE content_id = ANY (:ids);

-- name: contents_delete
-- Contents with their sections.
DELETE FROM contents WHERE id = ANY (:ids);

-- name: passages_unused
-- Of these passages (or of all), the ones no section points at.
SELECT id FROM passages p
WHERE (:everything OR id = ANY (:ids)) AND NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = p.id);

-- name: vectors_delete
-- The vectors of these passages.
DELETE FROM vectors WHERE passage_id = ANY (:ids);

-- name: passages_delete
-- The passages themselves, with their words.
DELETE FROM passages WHERE id = ANY (:ids);

-- name: size
-- How much room our tables and indexes take.
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r';

-- name: our_tables
-- The tables of this schema.
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname;

-- name: terms
-- Words as the index knows them, with how many passages have each; counting stops where it does not matter any more.
SELECT term.words, query.text, (
  SELECT count(*) FROM (SELECT 1 FROM passages p WHERE p.words @@ query.text::tsquery LIMIT :enough) AS counted
)
FROM unnest(:terms::text[], :beginnings::boolean[]) AS term (words, beginning)
CROSS JOIN LATERAL (
  SELECT CASE WHEN term.beginning THEN quote_literal(term.words) || ':*'
              ELSE phraseto_tsquery('rowen', term.words)::text END
) AS query (text)
WHERE query.text <> '';

-- name: passages_met
-- How many passages there were, ever: close enough to how many there are, and quickly said.
SELECT coalesce(max(id), 0) FROM passages;

-- name: places
-- Where readers can see these passages.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, s.anchor
FROM sections s
JOIN documents_active d ON d.content_id = s.content_id
JOIN refs r ON r.id = d.ref_id
WHERE s.passage_id = ANY (:passages)

-- name: passages_visible
-- The passages readers can see somewhere.
SELECT s.passage_id FROM sections s JOIN documents_active d ON d.content_id = s.content_id WHERE true

-- name: passage_texts
-- What these passages say.
SELECT id, heading_path, text FROM passages WHERE id = ANY (:ids);

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
WHERE r.source_id = :source AND left(r.reference, 500) >= left(:after, 500) AND r.reference > :after
ORDER BY left(r.reference, 500), r.reference LIMIT :limit;

-- name: documents_among
-- What readers see of these references.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.metadata, d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, CASE WHEN :text THEN c.text END
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND r.digest = ANY (:digests)
ORDER BY r.reference;

-- name: document_by_id
-- One document that readers see, with its text.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.metadata, d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, c.text
FROM documents_active d
JOIN refs r ON r.id = d.ref_id
JOIN contents c ON c.id = d.content_id
WHERE d.id = :document;

-- name: feed_lock
-- One activation at a time: its number is given out and becomes visible before the next one gets its own.
SELECT pg_advisory_xact_lock(:key, hashtext(current_schema() || ' feed'));

-- name: activation_insert
-- A generation was shown, in place of the one before; a rollback has no run.
INSERT INTO activations (source_id, generation, previous, run_id, at)
SELECT id, :generation, active_generation, :run, :now FROM sources WHERE id = :source;

-- name: activation_next
-- The first activation from a number on.
SELECT a.id, a.source_id, CASE WHEN s.version = '' THEN s.name ELSE s.name || '@' || s.version END, s.kind,
       a.generation, a.previous, a.run_id, a.at
FROM activations a JOIN sources s ON s.id = a.source_id
WHERE a.id >= :from AND (:everywhere OR a.source_id = ANY (:sources))
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
-- Nothing is sent there any more.
DELETE FROM sinks WHERE name = :name;

-- name: sink_move
-- How an attempt to send went.
UPDATE sinks SET
  activation = coalesce(:activation, activation), item = coalesce(:item, item), state = coalesce(:state, state),
  last_run_at = :now, last_error = :error,
  last_success_at = CASE WHEN :error::text IS NULL THEN :now ELSE last_success_at END,
  failures = CASE WHEN :error::text IS NULL THEN 0 ELSE failures + 1 END
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
-- Whoever holds it may nothing any more.
DELETE FROM tokens WHERE name = :name;

-- name: request_find
-- What a waiting wish asks for; nobody else joins it meanwhile.
SELECT "only", "full" FROM sync_requests WHERE source_id = :source FOR UPDATE;

-- name: request_insert
-- The first wish for a source.
INSERT INTO sync_requests (source_id, number, "only", "full", reason, requested_at)
VALUES (:source, 1, :only, :full, :reason, :now)
RETURNING source_id, number, "only", "full", reason, requested_at;

-- name: request_join
-- What became of the waiting wish when another joined; its place in the queue stays.
UPDATE sync_requests SET number = number + 1, "only" = :only, "full" = :full, reason = :reason
WHERE source_id = :source
RETURNING source_id, number, "only", "full", reason, requested_at;

-- name: requests_all
-- The longest waiting first.
SELECT source_id, number, "only", "full", reason, requested_at FROM sync_requests
ORDER BY requested_at, source_id;

-- name: request_delete
-- A wish that nothing joined since; the time tells it from a later one, whose numbers begin anew.
DELETE FROM sync_requests WHERE source_id = :source AND number = :number AND requested_at = :at;

-- name: deliveries_forget
-- Nobody delivers again after so long.
DELETE FROM deliveries WHERE at < :before;

-- name: delivery_insert
-- A delivery, if it is met for the first time.
INSERT INTO deliveries (hook, digest, at) VALUES (:hook, :digest, :now) ON CONFLICT DO NOTHING;

-- name: projection_get
-- How far the projection has come, and the highest ids it gave.
SELECT activation, item, last_offer_id, last_company_id FROM projections WHERE name = 'companies';

-- name: projection_save
-- How far the projection has come; its cursor may stay where it is.
INSERT INTO projections AS known (name, activation, item, last_offer_id, last_company_id)
VALUES ('companies', coalesce(:activation::bigint, 0), coalesce(:item::bigint, 0), :last_offer_id, :last_company_id)
ON CONFLICT (name) DO UPDATE SET
  activation = coalesce(:activation::bigint, known.activation),
  item = coalesce(:item::bigint, known.item),
  last_offer_id = excluded.last_offer_id,
  last_company_id = excluded.last_company_id;

-- name: sources_of_kinds
-- The sources of these kinds.
SELECT id FROM sources WHERE kind = ANY (:kinds);

-- name: sightings_orphaned
-- Sightings whose source was removed.
SELECT id, offer_id FROM offer_sightings WHERE source_id IS NULL ORDER BY offer_id LIMIT :limit;

-- name: offers_at
-- The offers at these references of a source.
SELECT offer_id FROM offer_sightings WHERE source_id = :source AND digest = ANY (:digests);

-- name: offers_named
-- Offers by what their board calls them.
SELECT o.id FROM unnest(:providers::text[], :digests::bytea[]) AS named (provider, digest)
JOIN offers o USING (provider, digest);

-- name: offers_by_id
-- Offers.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE id = ANY (:ids);

-- name: offers_alike
-- Offers with one of these fingerprints, or the fingerprint of an offer of these companies.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers
WHERE fingerprint IN (SELECT unnest(:fingerprints::bytea[])
                      UNION SELECT o.fingerprint FROM offers o WHERE o.company_id = ANY (:companies));

-- name: offers_of_companies
-- All offers of these companies.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE company_id = ANY (:companies);

-- name: sightings_of
-- Where these offers are seen, or were.
SELECT offer_id, source_id, reference, gone_at FROM offer_sightings
WHERE offer_id = ANY (:offers) AND source_id IS NOT NULL;

-- name: companies_with_keys
-- The companies that are known by one of these keys.
SELECT DISTINCT company_id FROM company_keys WHERE digest = ANY (:digests);

-- name: companies_by_id
-- Companies as they are recognised, and what people say about them.
SELECT id, name, website, resolution FROM companies WHERE id = ANY (:ids) ORDER BY id;

-- name: company_keys_of
-- The keys of these companies.
SELECT company_id, key FROM company_keys WHERE company_id = ANY (:companies);

-- name: company_save
-- A company; what people say about it stays.
INSERT INTO companies (id, name, website) VALUES (:id, :name, :website)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, website = excluded.website;

-- name: company_key_save
-- One more key of a company.
INSERT INTO company_keys (digest, key, company_id) VALUES (:digest, :key, :company) ON CONFLICT DO NOTHING;

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
DELETE FROM companies c WHERE id = ANY (:ids) AND resolution = ''
  AND NOT EXISTS (SELECT 1 FROM offers o WHERE o.company_id = c.id);

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

-- name: offer_save
-- An offer as it is now; whose repost it is comes after all of them.
INSERT INTO offers (id, provider, digest, external_id, company_id, title, place, url, posted_at, updated_at,
                    content_hash, fingerprint, first_seen_at, last_seen_at, closed_at)
VALUES (:id, :provider, :digest, :external_id, :company_id, :title, :place, :url, :posted_at, :updated_at,
        :content_hash, :fingerprint, :first_seen_at, :last_seen_at, :closed_at)
ON CONFLICT (id) DO UPDATE SET
  company_id = excluded.company_id, title = excluded.title, place = excluded.place, url = excluded.url,
  posted_at = excluded.posted_at, updated_at = excluded.updated_at, content_hash = excluded.content_hash,
  fingerprint = excluded.fingerprint, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
  closed_at = excluded.closed_at;

-- name: offer_repost
-- The offer that this one repeats.
UPDATE offers SET repost_of = :first WHERE id = :offer;

-- name: offers_delete
-- Offers of which no source is left.
DELETE FROM offers WHERE id = ANY (:ids);

-- name: sighting_save
-- An offer in a source; a source that was removed meanwhile leaves an orphan.
INSERT INTO offer_sightings (offer_id, source_id, digest, reference, gone_at)
VALUES (:offer, (SELECT id FROM sources WHERE id = :source), :digest, :reference, :gone_at)
ON CONFLICT (source_id, digest, offer_id) DO UPDATE SET gone_at = excluded.gone_at;

-- name: sightings_delete
-- Sightings whose source was removed.
DELETE FROM offer_sightings WHERE id = ANY (:ids);

-- name: companies_page
-- Companies by parts of their names and domains, by their open offers, and by the sources that saw one.
SELECT c.id FROM companies c
WHERE c.id > :after
  AND (:everyone OR c.id = ANY (:ids)
       OR c.id IN (SELECT m.company_id FROM companies_merged m WHERE m.id = ANY (:ids)))
  AND (:query::text IS NULL OR strpos(lower(c.name), lower(:query)) > 0
       OR EXISTS (SELECT 1 FROM company_keys k WHERE k.company_id = c.id
                  AND ((starts_with(k.key, 'name:') AND :name <> '' AND strpos(substr(k.key, 6), :name) > 0)
                       OR (starts_with(k.key, 'domain:') AND strpos(substr(k.key, 8), lower(:query)) > 0))))
  AND (:min_open = 0
       OR (SELECT count(*) FROM offers o WHERE o.company_id = c.id AND o.closed_at IS NULL) >= :min_open)
  AND (:everywhere OR EXISTS (SELECT 1 FROM offers o JOIN offer_sightings g ON g.offer_id = o.id
                              WHERE o.company_id = c.id AND g.source_id = ANY (:sources)))
ORDER BY c.id LIMIT :limit;

-- name: offers_looked_at
-- When a source with offers was last read without an error.
SELECT max(s.last_success_at) FROM sources s
WHERE EXISTS (SELECT 1 FROM offer_sightings g WHERE g.source_id = s.id);

-- name: offer_sources
-- The sources that see these offers, or saw them last.
SELECT g.offer_id, CASE WHEN s.version = '' THEN s.name ELSE s.name || '@' || s.version END, g.gone_at
FROM offer_sightings g JOIN sources s ON s.id = g.source_id
WHERE g.offer_id = ANY (:offers) ORDER BY s.name, s.version;

-- name: question_insert
-- A page of a run that somebody has to ask for.
INSERT INTO questions (run_id, host, asked) VALUES (:run, :host, :asked) RETURNING id;

-- name: turn_begin
-- The next turn at a host that nobody is on the way to; no row while somebody is, and even then the host is locked.
INSERT INTO shard_turns (run_id, host, turn, out) VALUES (:run, :host, 1, true)
ON CONFLICT (run_id, host) DO UPDATE SET turn = shard_turns.turn + 1, out = true WHERE NOT shard_turns.out
RETURNING turn;

-- name: turn_seize
-- The next turn at a host, whoever is on the way.
INSERT INTO shard_turns (run_id, host, turn, out) VALUES (:run, :host, 1, true)
ON CONFLICT (run_id, host) DO UPDATE SET turn = shard_turns.turn + 1, out = true
RETURNING turn;

-- name: turn_lock
-- The last turn at a host, and whether somebody is on the way; nobody changes either before the transaction ends.
SELECT turn, out FROM shard_turns WHERE run_id = :run AND host = :host FOR UPDATE;

-- name: turn_move
-- Whose turn it is from now on; or nobody's, and then the number stays, so that it is not given again.
UPDATE shard_turns SET turn = :turn, out = :out WHERE run_id = :run AND host = :host;

-- name: questions_again
-- What a turn took and has not answered, for whoever has its ticket now.
UPDATE questions SET attempts = attempts + 1
WHERE run_id = :run AND host = :host AND turn = :turn AND answer IS NULL
RETURNING id, asked, attempts;

-- name: questions_claim
-- The oldest questions that no turn has taken; one that is answered at this moment is left out.
UPDATE questions SET turn = :turn, attempts = attempts + 1
WHERE id = ANY (ARRAY(
  SELECT id FROM questions
  WHERE run_id = :run AND host = :host AND turn IS NULL AND answer IS NULL
  ORDER BY id LIMIT :limit
)) AND answer IS NULL
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
-- The runs of a source that asked workers for pages, and did not end or did not tidy up.
SELECT DISTINCT t.run_id FROM shard_turns t JOIN runs r ON r.id = t.run_id WHERE r.source_id = :source;

-- name: turns_forget
-- A run's turns go when it is over.
DELETE FROM shard_turns WHERE run_id = :run;

-- name: questions_forget
-- A run's questions go when it is over.
DELETE FROM questions WHERE run_id = :run;

-- name: tickets_forget
-- A run's tickets go when it is over.
DELETE FROM pgqueuer WHERE entrypoint = :task AND (convert_from(payload, 'UTF8')::jsonb ->> 'run')::bigint = :run;
