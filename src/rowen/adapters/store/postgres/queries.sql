-- Statements only PostgreSQL has, and those it has in place of the shared ones.

-- name: source_params
-- Other settings; the error that stopped the source is forgotten with the old ones.
UPDATE sources SET params = :params, metadata = metadata - 'fatal' WHERE id = :source;

-- name: source_paused
-- Paused or resumed by a person; of a pause the first moment counts. Resuming forgets the error that stopped the source.
UPDATE sources SET
  paused_at = CASE WHEN :paused THEN CASE WHEN paused THEN paused_at ELSE :now END END,
  paused_by = CASE WHEN :paused THEN CASE WHEN paused THEN paused_by ELSE :by END END,
  metadata = CASE WHEN :paused THEN metadata ELSE metadata - 'fatal' END,
  paused = :paused
WHERE id = :source;

-- name: lease_release
-- Released on purpose: the row stays, so that tokens keep growing.
UPDATE leases SET expires_at = NULL WHERE name = :name AND token = :token;

-- name: lease_check
-- Is this token the newest? Part of every write of a run; a takeover waits until that write has ended.
SELECT 1 FROM leases WHERE name = :name AND token = :token FOR KEY SHARE;

-- name: visible_references
-- As in the shared file; the index has the beginning of each reference.
SELECT r.reference
FROM refs r
WHERE r.source_id = :source AND left(r.reference, 500) >= left(:after, 500) AND r.reference > :after
  AND EXISTS (SELECT 1 FROM documents_active d WHERE d.ref_id = r.id)
ORDER BY left(r.reference, 500), r.reference LIMIT :limit;

-- name: refs_find
-- The ids of these addresses, where they have one.
SELECT digest, id FROM refs WHERE source_id = :source AND digest = ANY (:keys);

-- name: refs_insert
-- Addresses met for the first time.
COPY refs (source_id, digest, reference) FROM STDIN;

-- name: inventory_insert
-- Names that a site documents from now on.
COPY inventory (source_id, digest, words, name, kind, page, anchor) FROM STDIN;

-- name: inventory_places
-- Where readers can see what an inventory names under these words: the section that has the anchor, the one that
-- holds its mark, else the first of the page.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, i.anchor, d.content_id, s.link_share, i.name, i.kind, p.heading_path,
       s.start_at, s.end_at, s.kept, s.heading, p.text
FROM inventory i
JOIN refs r ON r.source_id = i.source_id AND r.digest = i.digest
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
JOIN sections s ON s.content_id = d.content_id AND s.position = coalesce(
  (SELECT min(o.position) FROM sections o WHERE o.content_id = d.content_id AND o.anchor = i.anchor),
  (SELECT max(o.position) FROM sections o WHERE o.content_id = d.content_id
     AND o.start_at < strpos(c.text, '<a id="' || i.anchor || '"></a>')),
  0)
JOIN passages p ON p.id = s.passage_id
WHERE i.words IN list(:names)

-- name: listing_save
-- Remember a listing.
INSERT INTO listings (source_id, digest, url, etag, last_modified, payload)
VALUES (:source, :digest, :url, :etag, :last_modified, :payload)
ON CONFLICT (source_id, digest) DO UPDATE SET
  etag = excluded.etag, last_modified = excluded.last_modified, payload = excluded.payload;

-- name: lock_texts_used
-- Shared by those who are about to point at a text: meanwhile no text is deleted.
SELECT pg_advisory_xact_lock_shared(x'526F776E'::int, hashtext(current_schema() || ' texts'));

-- name: lock_texts_forgotten
-- Held while texts that nothing points at are deleted.
SELECT pg_advisory_xact_lock(x'526F776E'::int, hashtext(current_schema() || ' texts'));

-- name: lock_feed
-- One activation at a time: its number is given out and becomes visible before the next one gets its own.
SELECT pg_advisory_xact_lock(x'526F776E'::int, hashtext(current_schema() || ' feed'));

-- name: contents_to_section
-- Of these contents, the ones whose sections are still missing; no other writer adds them meanwhile.
SELECT id FROM contents WHERE id = ANY (:ids) AND NOT sectioned ORDER BY id FOR NO KEY UPDATE;

-- name: handoffs_not_done
-- Of these handoffs, the ones no other worker has completed; none does until this transaction ends.
SELECT id FROM handoffs WHERE id = ANY (:ids) AND status <> 'completed' ORDER BY id FOR NO KEY UPDATE;

-- name: passages_insert
-- Passages met for the first time, with their words: those of the headings in class A, the others in D.
INSERT INTO passages (hash, heading_path, text, chars, words)
SELECT hash, heading_path, '', chars,
       setweight(to_tsvector('rowen', heading_words), 'A') || setweight(to_tsvector('rowen', text_words), 'D')
FROM unnest(:hashes::bytea[], :heading_paths::text[], :chars::integer[], :heading_words::text[], :text_words::text[])
     AS fresh (hash, heading_path, chars, heading_words, text_words)
RETURNING hash, id;

-- name: passages_said
-- These passages: the text where it is their own, else the first section that says it.
SELECT p.id, p.hash, p.heading_path, p.text, s.content_id, s.start_at, s.end_at, s.kept, s.heading
FROM passages p
LEFT JOIN LATERAL (SELECT o.content_id, o.start_at, o.end_at, o.kept, o.heading FROM sections o
                   WHERE o.passage_id = p.id LIMIT 1) AS s ON true
WHERE p.id = ANY (:ids);

-- name: slices
-- Parts of contents. A short content comes whole, and so do those of which many parts are wanted: the server opens it
-- for each part, and counts its characters up to there.
SELECT id, NULL::integer, NULL::integer, text FROM contents
WHERE id = ANY (:whole::bigint[]) OR id = ANY (:contents::bigint[]) AND octet_length(text) <= 32768
UNION ALL
SELECT c.id, part.start_at, part.end_at, substr(c.text, part.start_at + 1, part.end_at - part.start_at)
FROM unnest(:contents::bigint[], :starts::integer[], :ends::integer[]) AS part (content_id, start_at, end_at)
JOIN contents c ON c.id = part.content_id AND octet_length(c.text) > 32768;

-- name: vectors_insert
-- Embeddings of passages, once per model.
COPY vectors (passage_id, model_id, vector, embedding) FROM STDIN (FORMAT binary);

-- name: models_to_index
-- Models with so many vectors that comparing all of them takes too long, and no index yet. A model has no more
-- vectors than the highest number of a passage that has one: in a small store nothing is counted.
SELECT m.id, m.dimensions FROM models m
WHERE m.dimensions <= :longest
  AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = to_regclass('vectors_near_' || m.id) AND i.indisvalid)
  AND (SELECT max(v.passage_id) FROM vectors v WHERE v.model_id = m.id) > :enough
  AND (SELECT count(*) FROM (SELECT 1 FROM vectors v WHERE v.model_id = m.id LIMIT :enough + 1) AS counted) > :enough;

-- name: model_indexed
-- Has a model an index that is ready?
SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass('vectors_near_' || :model::bigint);

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

-- name: passages_visible
-- The passages readers can see somewhere.
SELECT s.passage_id FROM sections s JOIN documents_active d ON d.content_id = s.content_id WHERE true

-- name: metadata_has
-- A condition: the metadata of a document `d` have a value under a key, or in a list under it.
EXISTS (SELECT 1 FROM jsonb_path_query(d.metadata -> :key, 'lax $[*]') AS one WHERE one #>> '{}' = :value)

-- name: language_is
-- A condition: a document `d` is in a language, or in a variety of it; pages say it as `lang`, datasets as `languages`.
EXISTS (
  SELECT 1 FROM (
    SELECT one #>> '{}' AS value FROM jsonb_path_query(d.metadata -> 'languages', 'lax $[*]') AS one
    UNION ALL SELECT d.metadata ->> 'language'
    UNION ALL SELECT d.metadata ->> 'lang'
  ) AS said WHERE substr(replace(lower(said.value), '_', '-') || '-', 1, length(CAST(:language AS text)) + 1) = CAST(:language AS text) || '-'
)

-- name: documents_about
-- What documents say of their languages, whether readers see them, and what `documents_proven` says.
SELECT d.id, d.metadata -> 'languages', d.metadata ->> 'language', d.metadata ->> 'lang',
       d.born <= s.active_generation AND (d.died IS NULL OR d.died > s.active_generation),
       d.source_id, r.reference, d.fetched_at, h.changes, h.changed_s, h.unchanged_s
FROM documents d JOIN sources s ON s.id = d.source_id JOIN refs r ON r.id = d.ref_id
LEFT JOIN page_changes h ON h.ref_id = d.ref_id
WHERE d.id IN list(:documents);

-- name: holders_of_keys
-- The records that have a key, for each of these keys, up to one more than are looked at.
SELECT one.key, (SELECT string_agg(record_id::text, ',')
                 FROM (SELECT record_id FROM record_keys k WHERE k.key = one.key LIMIT 25) AS few)
FROM unnest(:keys::bigint[]) AS one (key);

-- name: documents_page
-- As in the shared file; the index has the beginning of each reference.
SELECT d.id, d.source_id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.metadata, d.content_type, c.hash,
       d.generation, d.born, d.fetched_at, CASE WHEN :text THEN c.text END
FROM refs r
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
WHERE r.source_id = :source AND left(r.reference, 500) >= left(:after, 500) AND r.reference > :after
ORDER BY left(r.reference, 500), r.reference LIMIT :limit;

-- name: request_to_join
-- The waiting request; no other process joins it meanwhile.
SELECT source_id, number, "only", "full", reason, requested_at FROM sync_requests WHERE source_id = :source FOR UPDATE;

-- name: delivery_insert
-- A delivery, if it is met for the first time.
INSERT INTO deliveries (hook, digest, at) VALUES (:hook, :key, :now) ON CONFLICT DO NOTHING;

-- name: company_key_save
-- One more key of a company.
INSERT INTO company_keys (digest, key, company_id) VALUES (:digest, :key, :company) ON CONFLICT DO NOTHING;

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

-- name: sighting_save
-- An offer in a source; a source that was removed meanwhile leaves an orphan.
INSERT INTO offer_sightings (offer_id, source_id, digest, reference, gone_at)
VALUES (:offer_id, (SELECT id FROM sources WHERE id = :source_id), :digest, :reference, :gone_at)
ON CONFLICT (source_id, digest, offer_id) DO UPDATE SET gone_at = excluded.gone_at;

-- name: batch_get
-- The last batch of a host, and whether a worker has it; both stay so until the transaction ends.
SELECT turn, out FROM shard_turns WHERE run_id = :run AND host = :host FOR UPDATE;

-- name: questions_claim
-- The oldest questions that no host batch has taken; one that is answered at this moment is left out.
UPDATE questions SET turn = :batch, attempts = attempts + 1
WHERE id = ANY (ARRAY(
  SELECT id FROM questions
  WHERE run_id = :run AND host = :host AND turn IS NULL AND answer IS NULL
  ORDER BY id LIMIT :limit
)) AND answer IS NULL
RETURNING id, asked, attempts;

-- name: tickets_forget
-- A run's tickets of a task go when it is over.
DELETE FROM pgqueuer WHERE entrypoint = :task AND (convert_from(payload, 'UTF8')::jsonb ->> 'run')::bigint = :run;

-- name: handoffs_there
-- Is the table of handoffs there? It can be taken down alone.
SELECT CASE WHEN to_regclass('handoffs') IS NULL THEN 0 ELSE 1 END;

-- name: run_days
-- What runs did, by source and day.
SELECT source_id, substr(CAST(started_at AT TIME ZONE 'UTC' AS text), 1, 10) AS day, count(*),
       CAST(sum(coalesce(CAST(counters ->> 'created' AS bigint), 0)) AS bigint),
       CAST(sum(coalesce(CAST(counters ->> 'updated' AS bigint), 0)) AS bigint),
       CAST(sum(coalesce(CAST(counters ->> 'deleted' AS bigint), 0)) AS bigint),
       CAST(sum(coalesce(CAST(counters ->> 'failed' AS bigint), 0)) AS bigint)
FROM runs WHERE started_at >= :since GROUP BY source_id, day ORDER BY source_id, day;

-- name: vectors_last
-- The passage with the highest number that has a vector of a model.
SELECT max(passage_id) FROM vectors WHERE model_id = :model;

-- name: vectors_after
-- Vectors of a model with the hashes of their texts, in the order of the passages.
SELECT p.hash, v.vector FROM vectors v JOIN passages p ON p.id = v.passage_id
WHERE v.model_id = :model AND v.passage_id > :after ORDER BY v.passage_id;
