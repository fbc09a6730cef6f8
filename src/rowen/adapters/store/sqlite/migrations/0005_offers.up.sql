-- Offers of work and the companies behind them, projected from what readers see.
CREATE TABLE companies (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,
  website       TEXT,
  resolution    TEXT NOT NULL DEFAULT '',
  resolution_at TEXT
);

CREATE TABLE company_keys (
  key        TEXT NOT NULL,
  company_id INTEGER NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
  PRIMARY KEY (key, company_id)
) WITHOUT ROWID;
CREATE INDEX company_keys_by_company ON company_keys (company_id);

CREATE TABLE companies_merged (
  id         INTEGER PRIMARY KEY,
  company_id INTEGER NOT NULL REFERENCES companies (id) ON DELETE CASCADE
);
CREATE INDEX companies_merged_by_company ON companies_merged (company_id);

CREATE TABLE offers (
  id            INTEGER PRIMARY KEY,
  provider      TEXT NOT NULL,
  external_id   TEXT NOT NULL,
  company_id    INTEGER REFERENCES companies (id),
  title         TEXT NOT NULL,
  place         TEXT NOT NULL,
  url           TEXT NOT NULL,
  posted_at     TEXT,
  updated_at    TEXT,
  content_hash  BLOB NOT NULL,
  fingerprint   BLOB NOT NULL,
  first_seen_at TEXT NOT NULL,
  last_seen_at  TEXT NOT NULL,
  closed_at     TEXT,
  repost_of     INTEGER REFERENCES offers (id) ON DELETE SET NULL,
  UNIQUE (provider, external_id)
);
CREATE INDEX offers_by_company ON offers (company_id, closed_at);
CREATE INDEX offers_by_fingerprint ON offers (fingerprint);
CREATE INDEX offers_reposted ON offers (repost_of) WHERE repost_of IS NOT NULL;

CREATE TABLE offer_sightings (
  id        INTEGER PRIMARY KEY,
  offer_id  INTEGER NOT NULL REFERENCES offers (id) ON DELETE CASCADE,
  source_id INTEGER REFERENCES sources (id) ON DELETE SET NULL,
  reference TEXT NOT NULL,
  gone_at   TEXT,
  UNIQUE (source_id, reference, offer_id)
);
CREATE INDEX offer_sightings_by_offer ON offer_sightings (offer_id);
CREATE INDEX offer_sightings_orphaned ON offer_sightings (offer_id) WHERE source_id IS NULL;

CREATE TABLE projections (
  name            TEXT PRIMARY KEY,
  activation      INTEGER NOT NULL,
  item            INTEGER NOT NULL,
  last_offer_id   INTEGER NOT NULL,
  last_company_id INTEGER NOT NULL
) WITHOUT ROWID;
