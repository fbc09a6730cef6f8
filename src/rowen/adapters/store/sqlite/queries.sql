-- Statements only SQLite has, and those it has in place of the shared ones.

-- name: source_params
-- Other settings; the error that stopped the source is forgotten with the old ones.
UPDATE sources SET params = :params, metadata = json_remove(metadata, '$.fatal') WHERE id = :source;

-- name: source_paused
-- Paused or resumed by a person; of a pause the first moment counts. Resuming forgets the error that stopped the source.
UPDATE sources SET
  paused_at = CASE WHEN :paused THEN CASE WHEN paused THEN paused_at ELSE :now END END,
  paused_by = CASE WHEN :paused THEN CASE WHEN paused THEN paused_by ELSE :by END END,
  metadata = CASE WHEN :paused THEN metadata ELSE json_remove(metadata, '$.fatal') END,
  paused = :paused
WHERE id = :source;

-- name: lease_release
-- Released on purpose, which is an empty time: the row stays, so that tokens keep growing.
UPDATE leases SET expires_at = '' WHERE name = :name AND token = :token;

-- name: refs_find
-- The ids of these addresses, where they have one.
SELECT reference, id FROM refs WHERE source_id = :source AND reference IN carray(:keys);

-- name: refs_insert
-- Addresses met for the first time. What they are found by is the address itself.
INSERT INTO refs (source_id, reference) VALUES (?1, ?3);

-- name: inventory_insert
-- Names that a site documents from now on.
INSERT INTO inventory (source_id, words, name, kind, page, anchor) VALUES (?1, ?3, ?4, ?5, ?6, ?7);

-- name: inventory_places
-- Where readers can see what an inventory names under these words: the section that has the anchor, the one that
-- holds its mark, else the first of the page.
SELECT s.passage_id, d.id, d.source, d.version, d.kind, r.reference, d.url, d.title, d.generation, d.fetched_at,
       s.position, i.anchor, d.content_id, s.link_share, i.name, i.kind, p.heading_path,
       s.start_at, s.end_at, s.kept, s.heading, p.text
FROM inventory i
JOIN refs r ON r.source_id = i.source_id AND r.reference = i.page
JOIN documents_active d ON d.ref_id = r.id
JOIN contents c ON c.id = d.content_id
JOIN sections s ON s.content_id = d.content_id AND s.position = coalesce(
  (SELECT min(o.position) FROM sections o WHERE o.content_id = d.content_id AND o.anchor = i.anchor),
  (SELECT max(o.position) FROM sections o WHERE o.content_id = d.content_id
     AND o.start_at < instr(text_of(c.text), '<a id="' || i.anchor || '"></a>')),
  0)
JOIN passages p ON p.id = s.passage_id
WHERE i.words IN list(:names)

-- name: listing_save
-- Remember a listing.
INSERT INTO listings (source_id, url, etag, last_modified, payload)
VALUES (:source, :url, :etag, :last_modified, :payload)
ON CONFLICT (source_id, url) DO UPDATE SET
  etag = excluded.etag, last_modified = excluded.last_modified, payload = excluded.payload;

-- name: contents_stored
-- Contents as they are stored.
SELECT id, text FROM contents WHERE id IN list(:ids);

-- name: contents_unused
-- The contents that no document uses, and that no record goes on from: a scan.
SELECT id FROM contents c
WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM records r WHERE r.goes_on_from = c.id);

-- name: contents_unused_among
-- Of these contents, the ones no document uses and no record goes on from.
SELECT id FROM contents c
WHERE id IN list(:ids) AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.content_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM records r WHERE r.goes_on_from = c.id);

-- name: records_insert
-- Records met for the first time, and the contents that some of them go on from.
COPY records (hash, body, goes_on_from) FROM STDIN;

-- name: record_of
-- The record of a document that readers see, and the text it goes on from.
SELECT r.body, CASE WHEN r.goes_on_from IS NOT NULL THEN coalesce(c.text, '') END
FROM documents_active d
JOIN document_records x ON x.ref_id = d.ref_id AND x.payload_hash = d.payload_hash
JOIN records r ON r.id = x.record_id
LEFT JOIN contents c ON c.id = r.goes_on_from
WHERE d.id = :document;

-- name: passage_insert
-- A passage met for the first time; its text is that of its sections.
INSERT INTO passages (hash, heading_path, text, chars) VALUES (:hash, :heading_path, '', :chars) RETURNING id;

-- name: vectors_insert
-- Embeddings of passages, once per model.
COPY vectors (passage_id, model_id, vector) FROM STDIN;

-- name: passages_delete
-- Passages that nothing uses.
DELETE FROM passages WHERE id IN list(:ids);

-- name: metadata_has
-- A condition: the metadata of a document `d` have a value under a key, or in a list under it.
EXISTS (SELECT 1 FROM json_each(text_of(d.metadata), '$."' || replace(:key, '"', '') || '"') WHERE CAST(value AS TEXT) = :value)

-- name: language_is
-- A condition: a document `d` is in a language, or in a variety of it; pages say it as `lang`, datasets as `languages`.
EXISTS (
  SELECT 1 FROM (
    SELECT value FROM json_each(text_of(d.metadata), '$.languages')
    UNION ALL SELECT json_extract(text_of(d.metadata), '$.language')
    UNION ALL SELECT json_extract(text_of(d.metadata), '$.lang')
  ) WHERE substr(replace(lower(value), '_', '-') || '-', 1, length(CAST(:language AS text)) + 1) = CAST(:language AS text) || '-'
)

-- name: documents_about
-- What documents say of their languages, whether readers see them, and what `documents_proven` says.
SELECT id, said ->> '$.languages', said ->> '$.language', said ->> '$.lang',
       seen, source_id, reference, fetched_at, changes, changed_s, unchanged_s
FROM (
  SELECT d.id, text_of(d.metadata) AS said,
         d.born <= s.active_generation AND (d.died IS NULL OR d.died > s.active_generation) AS seen,
         d.source_id, r.reference, d.fetched_at, h.changes, h.changed_s, h.unchanged_s
  FROM documents d JOIN sources s ON s.id = d.source_id JOIN refs r ON r.id = d.ref_id
  LEFT JOIN page_changes h ON h.ref_id = d.ref_id
  WHERE d.id IN list(:documents) LIMIT -1
);

-- name: holders_of_keys
-- The records that have a key, for each of these keys, up to one more than are looked at.
SELECT one.value, (SELECT group_concat(record_id)
                   FROM (SELECT record_id FROM record_keys WHERE key = one.value LIMIT 25))
FROM carray(:keys) AS one;

-- name: delivery_insert
-- A delivery, if it is met for the first time.
INSERT INTO deliveries (hook, delivery, at) VALUES (:hook, :key, :now) ON CONFLICT DO NOTHING;

-- name: company_key_save
-- One more key of a company.
INSERT INTO company_keys (key, company_id) VALUES (:key, :company) ON CONFLICT DO NOTHING;

-- name: offer_save
-- An offer as it is now; whose repost it is comes after all of them.
INSERT INTO offers (id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash,
                    fingerprint, first_seen_at, last_seen_at, closed_at)
VALUES (:id, :provider, :external_id, :company_id, :title, :place, :url, :posted_at, :updated_at, :content_hash,
        :fingerprint, :first_seen_at, :last_seen_at, :closed_at)
ON CONFLICT (id) DO UPDATE SET
  company_id = excluded.company_id, title = excluded.title, place = excluded.place, url = excluded.url,
  posted_at = excluded.posted_at, updated_at = excluded.updated_at, content_hash = excluded.content_hash,
  fingerprint = excluded.fingerprint, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
  closed_at = excluded.closed_at;

-- name: sighting_save
-- An offer in a source; a source that was removed meanwhile leaves an orphan.
INSERT INTO offer_sightings (offer_id, source_id, reference, gone_at)
VALUES (:offer_id, (SELECT id FROM sources WHERE id = :source_id), :reference, :gone_at)
ON CONFLICT (source_id, reference, offer_id) DO UPDATE SET gone_at = excluded.gone_at;

-- name: tickets_forget
-- A run's tickets of a task go when it is over.
DELETE FROM jobs WHERE task = :task AND payload ->> '$.run' = :run;

-- name: jobs_insert
-- Tickets.
COPY jobs (task, payload, priority, due_at) FROM STDIN;

-- name: jobs_claim
-- The next tickets that are due and that no worker holds, or whose holder has gone. A time after the latest that
-- a ticket can have was written by a clock that was ahead.
UPDATE jobs SET owner = :owner, expires_at = :expires
WHERE id IN (
  SELECT id FROM jobs
  WHERE (due_at <= :now OR due_at > :latest) AND (owner IS NULL OR expires_at <= :now OR expires_at > :latest)
    AND task IN list(:tasks)
  ORDER BY priority DESC, id LIMIT :limit
)
RETURNING id, task, payload;

-- name: jobs_renew
-- The heartbeat of a worker that holds tickets.
UPDATE jobs SET expires_at = :expires WHERE owner = :owner AND expires_at > :now AND id IN list(:ids);

-- name: job_done
-- A ticket that is done goes.
DELETE FROM jobs WHERE id = :job AND owner = :owner;

-- name: job_later
-- A ticket that comes back.
UPDATE jobs SET owner = NULL, expires_at = NULL, due_at = :due WHERE id = :job AND owner = :owner;

-- name: jobs_backlog
-- How many wait, how many are held, and since when the oldest waits.
SELECT count(*) FILTER (WHERE owner IS NULL OR expires_at <= :now),
       count(*) FILTER (WHERE owner IS NOT NULL AND expires_at > :now),
       min(due_at) FILTER (WHERE owner IS NULL OR expires_at <= :now)
FROM jobs;

-- name: jobs_outstanding
-- What the tickets of a task are about.
SELECT payload FROM jobs WHERE task = :task ORDER BY id;

-- name: handoffs_there
-- Is the table of handoffs there? It can be taken down alone.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'handoffs';

-- name: run_days
-- What runs did, by source and day.
SELECT source_id, substr(started_at, 1, 10) AS day, count(*),
       CAST(sum(coalesce(CAST(counters ->> 'created' AS bigint), 0)) AS bigint),
       CAST(sum(coalesce(CAST(counters ->> 'updated' AS bigint), 0)) AS bigint),
       CAST(sum(coalesce(CAST(counters ->> 'deleted' AS bigint), 0)) AS bigint),
       CAST(sum(coalesce(CAST(counters ->> 'failed' AS bigint), 0)) AS bigint)
FROM runs WHERE started_at >= :since GROUP BY source_id, day ORDER BY source_id, day;
