-- The whole schema, for readers. Upgrades are in migrations/; a test holds the two together.

CREATE VIEW documents_active AS
  SELECT d.*, s.name AS source, s.version, s.kind, s.active_generation AS generation
  FROM documents d JOIN sources s ON s.id = d.source_id
  WHERE d.born <= s.active_generation AND (d.died IS NULL OR d.died > s.active_generation);

CREATE TABLE activations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id  INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  previous   INTEGER NOT NULL,
  run_id     INTEGER,
  at         TEXT NOT NULL
, cause TEXT NOT NULL DEFAULT 'run', actor TEXT, documents INTEGER);

CREATE TABLE claims (
  source_id  INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  signal     TEXT NOT NULL,
  claims     INTEGER NOT NULL,
  checked    INTEGER NOT NULL,
  lies       INTEGER NOT NULL,
  told       INTEGER NOT NULL,
  alarms     INTEGER NOT NULL,
  held       INTEGER NOT NULL,
  runs       INTEGER NOT NULL,
  turns      INTEGER NOT NULL,
  falls      INTEGER NOT NULL,
  lied_at    TEXT,
  lied_about TEXT,
  checked_at TEXT,
  PRIMARY KEY (source_id, signal)
) WITHOUT ROWID;

CREATE TABLE companies (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,
  website       TEXT,
  resolution    TEXT NOT NULL DEFAULT '',
  resolution_at TEXT
);

CREATE TABLE companies_merged (
  id         INTEGER PRIMARY KEY,
  company_id INTEGER NOT NULL REFERENCES companies (id) ON DELETE CASCADE
);

CREATE TABLE company_keys (
  key        TEXT NOT NULL,
  company_id INTEGER NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
  PRIMARY KEY (key, company_id)
) WITHOUT ROWID;

CREATE TABLE contents (
  id        INTEGER PRIMARY KEY,
  hash      BLOB NOT NULL,
  text      TEXT NOT NULL,
  sectioned INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE deliveries (
  hook     TEXT NOT NULL,
  delivery TEXT NOT NULL,
  at       TEXT NOT NULL,
  PRIMARY KEY (hook, delivery)
) WITHOUT ROWID;

CREATE TABLE dictionaries (
  id        INTEGER PRIMARY KEY,
  source_id INTEGER UNIQUE REFERENCES sources (id) ON DELETE SET NULL,
  body      BLOB NOT NULL
);

CREATE TABLE document_records (
  ref_id       INTEGER NOT NULL REFERENCES refs (id) ON DELETE CASCADE,
  payload_hash BLOB NOT NULL,
  record_id    INTEGER NOT NULL REFERENCES records (id),
  PRIMARY KEY (ref_id, payload_hash)
) WITHOUT ROWID;

CREATE TABLE documents (
  id            INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ref_id        INTEGER NOT NULL REFERENCES refs (id) ON DELETE CASCADE,
  content_id    INTEGER NOT NULL REFERENCES contents (id),
  url           TEXT NOT NULL,
  title         TEXT NOT NULL,
  metadata      TEXT NOT NULL DEFAULT '{}',
  content_type  TEXT NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  body_hash     BLOB,
  payload_hash  BLOB NOT NULL,
  depth         INTEGER NOT NULL,
  links         BLOB NOT NULL,
  fetched_at    TEXT NOT NULL,
  born          INTEGER NOT NULL,
  died          INTEGER
, body_bytes INTEGER NOT NULL DEFAULT 0);

CREATE TABLE drafts (
  handoff_id    INTEGER PRIMARY KEY REFERENCES handoffs (id) ON DELETE CASCADE,
  url           TEXT NOT NULL,
  title         TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  content_type  TEXT NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  body_hash     BLOB,
  body_bytes    INTEGER NOT NULL,
  depth         INTEGER NOT NULL,
  links         BLOB NOT NULL
);

CREATE TABLE generations (
  source_id    INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  run_id       INTEGER NOT NULL,
  activated_at TEXT,
  documents    INTEGER NOT NULL,
  PRIMARY KEY (source_id, number)
) WITHOUT ROWID;

CREATE TABLE handoffs (
  id            INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  ref_id        INTEGER NOT NULL REFERENCES refs (id) ON DELETE CASCADE,
  payload_hash  BLOB NOT NULL,
  content_id    INTEGER REFERENCES contents (id),
  run_id        INTEGER NOT NULL,
  generation    INTEGER NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
  reason_code   TEXT NOT NULL,
  attempts      INTEGER NOT NULL DEFAULT 0,
  last_error    TEXT,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  retry_at      INTEGER
);

CREATE TABLE inventory (
  id        INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  words     TEXT NOT NULL,
  name      TEXT NOT NULL,
  kind      TEXT NOT NULL,
  page      TEXT NOT NULL,
  anchor    TEXT NOT NULL
);

CREATE TABLE jobs (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  task       TEXT NOT NULL,
  payload    TEXT NOT NULL,
  priority   INTEGER NOT NULL DEFAULT 0,
  due_at     TEXT NOT NULL,
  owner      TEXT,
  expires_at TEXT
);

CREATE TABLE leases (
  name       TEXT PRIMARY KEY,
  owner      TEXT NOT NULL,
  token      INTEGER NOT NULL,
  expires_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE listings (
  id            INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  url           TEXT NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  payload       TEXT NOT NULL,
  UNIQUE (source_id, url)
);

CREATE TABLE models (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  digest     TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  UNIQUE (name, digest, dimensions)
);

CREATE TABLE notes (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE offer_sightings (
  id        INTEGER PRIMARY KEY,
  offer_id  INTEGER NOT NULL REFERENCES offers (id) ON DELETE CASCADE,
  source_id INTEGER REFERENCES sources (id) ON DELETE SET NULL,
  reference TEXT NOT NULL,
  gone_at   TEXT,
  UNIQUE (source_id, reference, offer_id)
);

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

CREATE TABLE page_changes (
  ref_id      INTEGER PRIMARY KEY REFERENCES refs (id) ON DELETE CASCADE,
  source_id   INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  changes     REAL NOT NULL,
  changed_s   REAL NOT NULL,
  unchanged_s REAL NOT NULL
);

CREATE TABLE pages_shown (
  source_id INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  at        TEXT NOT NULL,
  counts    TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE passages (
  id           INTEGER PRIMARY KEY,
  hash         BLOB NOT NULL,
  heading_path TEXT NOT NULL,
  text         TEXT NOT NULL,
  chars        INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE pauses (
  upstream TEXT PRIMARY KEY,
  until  TEXT NOT NULL,
  reason TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE planned_answers (
  plan      TEXT NOT NULL,
  key       BLOB NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  at        TEXT NOT NULL,
  answer    TEXT NOT NULL,
  body      BLOB NOT NULL,
  PRIMARY KEY (plan, key)
);

CREATE TABLE projections (
  name            TEXT PRIMARY KEY,
  activation      INTEGER NOT NULL,
  item            INTEGER NOT NULL,
  last_offer_id   INTEGER NOT NULL,
  last_company_id INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE questions (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  host     TEXT NOT NULL,
  asked    BLOB NOT NULL,
  turn     INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  answer   BLOB
);

CREATE TABLE record_keys (
  record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  key       INTEGER NOT NULL,
  PRIMARY KEY (record_id, key)
) WITHOUT ROWID;

CREATE TABLE records (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  body BLOB NOT NULL
, goes_on_from INTEGER REFERENCES contents (id));

CREATE TABLE refs (
  id        INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  reference TEXT NOT NULL,
  alias_of  INTEGER REFERENCES refs (id) ON DELETE SET NULL,
  UNIQUE (source_id, reference)
);

CREATE TABLE removals (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  version    TEXT NOT NULL,
  kind       TEXT NOT NULL,
  generation INTEGER NOT NULL,
  at         TEXT NOT NULL,
  UNIQUE (name, version)
);

CREATE TABLE run_items (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  reference TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  reason    TEXT NOT NULL,
  detail    TEXT
);

CREATE TABLE run_shares (
  run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  counters TEXT NOT NULL
);

CREATE TABLE runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id   INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  mode        TEXT NOT NULL,
  status      TEXT NOT NULL,
  generation  INTEGER NOT NULL,
  stop_reason TEXT,
  started_at  TEXT NOT NULL,
  finished_at TEXT,
  counters    TEXT NOT NULL DEFAULT '{}',
  error       TEXT,
  owner       TEXT NOT NULL
, window TEXT);

CREATE TABLE sections (
  content_id INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  level      INTEGER NOT NULL,
  parent     INTEGER,
  heading    TEXT NOT NULL,
  anchor     TEXT,
  start_at   INTEGER NOT NULL,
  end_at     INTEGER NOT NULL,
  passage_id INTEGER NOT NULL REFERENCES passages (id), link_share INTEGER NOT NULL DEFAULT 0, form TEXT NOT NULL DEFAULT 'prose', symbol TEXT, symbol_kind TEXT, symbol_words TEXT, kept BLOB,
  PRIMARY KEY (content_id, position)
) WITHOUT ROWID;

CREATE TABLE shard_turns (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  host   TEXT NOT NULL,
  turn   INTEGER NOT NULL,
  out    INTEGER NOT NULL,
  PRIMARY KEY (run_id, host)
) WITHOUT ROWID;

CREATE TABLE sinks (
  name            TEXT PRIMARY KEY,
  kind            TEXT NOT NULL,
  settings        TEXT NOT NULL,
  activation      INTEGER NOT NULL,
  item            INTEGER NOT NULL,
  state           TEXT NOT NULL DEFAULT '{}',
  last_run_at     TEXT,
  last_success_at TEXT,
  last_error      TEXT,
  failures        INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE sources (
  id                   INTEGER PRIMARY KEY,
  key                  TEXT NOT NULL UNIQUE,
  kind                 TEXT NOT NULL,
  name                 TEXT NOT NULL,
  version              TEXT NOT NULL DEFAULT '',
  location             TEXT NOT NULL,
  params               TEXT NOT NULL DEFAULT '{}',
  status               TEXT NOT NULL DEFAULT 'IDLE' CHECK (status IN ('IDLE', 'RUNNING', 'SUCCESS', 'ERROR')),
  active_generation    INTEGER NOT NULL DEFAULT 0,
  last_generation      INTEGER NOT NULL DEFAULT 0,
  held_generation      INTEGER,
  held_reason          TEXT,
  last_run_at          TEXT,
  last_success_at      TEXT,
  last_error_at        TEXT,
  last_error           TEXT,
  watermark            TEXT,
  last_processed_date  TEXT,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  metadata             TEXT NOT NULL DEFAULT '{}',
  created_at           TEXT NOT NULL, every_s REAL, paused INTEGER NOT NULL DEFAULT 0, last_result TEXT, held_at TEXT, paused_at TEXT, paused_by TEXT, pinned_at TEXT, pinned_by TEXT,
  UNIQUE (name, version)
);

CREATE TABLE sync_requests (
  source_id    INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  only         TEXT,
  "full"       INTEGER NOT NULL DEFAULT 0,
  reason       TEXT NOT NULL,
  requested_at TEXT NOT NULL
);

CREATE TABLE tokens (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  digest       BLOB NOT NULL UNIQUE,
  scope        TEXT NOT NULL CHECK (scope IN ('read', 'sync', 'admin')),
  created_at   TEXT NOT NULL,
  last_used_at TEXT
);

CREATE TABLE vectors (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  passage_id INTEGER NOT NULL REFERENCES passages (id) ON DELETE CASCADE,
  model_id   INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
  vector     BLOB NOT NULL,
  UNIQUE (passage_id, model_id)
);

CREATE TABLE verifications (
  source_id  INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  at         TEXT NOT NULL,
  way        TEXT,
  exceptions TEXT NOT NULL
, rates TEXT, learnt_at TEXT, looks BLOB) WITHOUT ROWID;

CREATE INDEX activations_by_source ON activations (source_id, id);

CREATE INDEX companies_merged_by_company ON companies_merged (company_id);

CREATE INDEX company_keys_by_company ON company_keys (company_id);

CREATE UNIQUE INDEX contents_by_hash ON contents (substr(hash, 1, 12));

CREATE INDEX deliveries_by_time ON deliveries (at);

CREATE INDEX document_records_by_record ON document_records (record_id);

CREATE INDEX documents_by_birth ON documents (source_id, born, died);

CREATE INDEX documents_by_content ON documents (content_id);

CREATE INDEX documents_by_death ON documents (source_id, died) WHERE died IS NOT NULL;

CREATE INDEX documents_by_ref ON documents (ref_id);

CREATE UNIQUE INDEX documents_current ON documents (source_id, ref_id) WHERE died IS NULL;

CREATE INDEX handoffs_by_content ON handoffs (content_id);

CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation) WHERE content_id IS NOT NULL;

CREATE UNIQUE INDEX handoffs_by_payload ON handoffs (ref_id, substr(payload_hash, 1, 12));

CREATE INDEX handoffs_by_retry ON handoffs (source_id, retry_at) WHERE retry_at IS NOT NULL;

CREATE INDEX handoffs_by_update ON handoffs (source_id, updated_at);

CREATE INDEX handoffs_unfinished ON handoffs (source_id) WHERE status IN ('queued', 'running');

CREATE INDEX inventory_by_source ON inventory (source_id);

CREATE INDEX inventory_by_words ON inventory (words);

CREATE INDEX jobs_by_turn ON jobs (priority DESC, id);

CREATE INDEX offer_sightings_by_offer ON offer_sightings (offer_id);

CREATE INDEX offer_sightings_orphaned ON offer_sightings (offer_id) WHERE source_id IS NULL;

CREATE INDEX offers_by_company ON offers (company_id, closed_at);

CREATE INDEX offers_by_fingerprint ON offers (fingerprint);

CREATE INDEX offers_reposted ON offers (repost_of) WHERE repost_of IS NOT NULL;

CREATE INDEX page_changes_by_source ON page_changes (source_id);

CREATE UNIQUE INDEX passages_by_hash ON passages (substr(hash, 1, 12));

CREATE INDEX planned_answers_by_source ON planned_answers (source_id);

CREATE INDEX questions_answered ON questions (run_id) WHERE answer IS NOT NULL;

CREATE INDEX questions_by_turn ON questions (run_id, host, turn);

CREATE INDEX record_keys_by_key ON record_keys (key);

CREATE UNIQUE INDEX records_by_hash ON records (substr(hash, 1, 12));

CREATE INDEX records_going_on ON records (goes_on_from) WHERE goes_on_from IS NOT NULL;

CREATE INDEX refs_aliases ON refs (alias_of) WHERE alias_of IS NOT NULL;

CREATE INDEX run_items_by_run ON run_items (run_id, id);

CREATE INDEX run_shares_by_run ON run_shares (run_id);

CREATE INDEX runs_by_source ON runs (source_id, id);

CREATE INDEX sections_by_passage ON sections (passage_id);

CREATE INDEX sections_by_symbol ON sections (symbol_words) WHERE symbol_words IS NOT NULL;
