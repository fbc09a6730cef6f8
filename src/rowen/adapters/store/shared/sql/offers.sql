-- name: projection_get
-- How far the projection has come, and the highest ids it gave.
SELECT activation, item, last_offer_id, last_company_id FROM projections WHERE name = 'companies';

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

-- name: companies_with_keys
-- The companies that are known by one of these keys.
SELECT DISTINCT company_id FROM company_keys WHERE key IN keys(:keys);

-- name: fingerprints_of
-- The fingerprints of the offers of these companies.
SELECT DISTINCT fingerprint FROM offers WHERE company_id IN list(:companies);

-- name: offers_alike
-- Offers with one of these fingerprints.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE fingerprint IN list(:fingerprints);

-- name: company_save
-- A company; what people say about it stays.
INSERT INTO companies (id, name, website) VALUES (:id, :name, :website)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, website = excluded.website;

-- name: offer_repost
-- The offer that this one repeats.
UPDATE offers SET repost_of = :first WHERE id = :offer;

-- name: sightings_delete
-- Sightings whose source was removed.
DELETE FROM offer_sightings WHERE id IN list(:ids);

-- name: offers_delete
-- Offers of which no source is left.
DELETE FROM offers WHERE id IN list(:ids);

-- name: companies_forget
-- Those of these companies that have no offer and of which people say nothing.
DELETE FROM companies WHERE id IN list(:ids) AND resolution = ''
  AND NOT EXISTS (SELECT 1 FROM offers o WHERE o.company_id = companies.id);

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

-- name: company_current
-- The id under which a company goes on.
SELECT id FROM companies WHERE id = :id UNION ALL SELECT company_id FROM companies_merged WHERE id = :id;

-- name: offers_of_companies
-- All offers of these companies.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE company_id IN list(:companies);

-- name: offer_sources
-- The sources that see these offers, or saw them last.
SELECT g.offer_id, CASE WHEN s.version = '' THEN s.name ELSE s.name || '@' || s.version END, g.gone_at
FROM offer_sightings g JOIN sources s ON s.id = g.source_id
WHERE g.offer_id IN list(:offers) ORDER BY s.name, s.version;

-- name: resolution_save
-- What people say about a company.
UPDATE companies SET resolution = :text, resolution_at = :now WHERE id = :id AND resolution <> :text;

-- name: offers_by_id
-- Offers.
SELECT id, provider, external_id, company_id, title, place, url, posted_at, updated_at, content_hash, fingerprint,
       first_seen_at, last_seen_at, closed_at, repost_of
FROM offers WHERE id IN list(:ids);

-- name: sightings_of
-- Where these offers are seen, or were.
SELECT offer_id, source_id, reference, gone_at FROM offer_sightings
WHERE offer_id IN list(:offers) AND source_id IS NOT NULL;

-- name: company_keys_of
-- The keys of these companies.
SELECT company_id, key FROM company_keys WHERE company_id IN list(:companies);

-- name: companies_by_id
-- Companies as they are recognised, and what people say about them.
SELECT id, name, website, resolution FROM companies WHERE id IN list(:ids) ORDER BY id;

-- name: offers_looked_at
-- When a source with offers was last read without an error.
SELECT max(s.last_success_at) FROM sources s
WHERE EXISTS (SELECT 1 FROM offer_sightings g WHERE g.source_id = s.id);

-- name: resolution_move
-- What people said about two companies that are one, with the time when they last did.
UPDATE companies SET resolution = :text,
       resolution_at = (SELECT max(t.resolution_at) FROM companies t WHERE t.id IN (:gone, :into))
WHERE id = :into;

-- name: company_move_offers
-- The offers of a company that turned out to be another.
UPDATE offers SET company_id = :into WHERE company_id = :gone;

-- name: company_move_ids
-- The ids under which it was known before.
UPDATE companies_merged SET company_id = :into WHERE company_id = :gone;

-- name: company_delete
-- A company that turned out to be another.
DELETE FROM companies WHERE id = :gone;

-- name: company_merged
-- Its own id goes on to mean the other.
INSERT INTO companies_merged (id, company_id) VALUES (:gone, :into);
