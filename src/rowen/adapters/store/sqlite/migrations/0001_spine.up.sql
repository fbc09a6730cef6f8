-- Sources, their runs and the generations readers see.

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
  created_at           TEXT NOT NULL,
  UNIQUE (name, version)
);

CREATE TABLE leases (
  name       TEXT PRIMARY KEY,
  owner      TEXT NOT NULL,
  token      INTEGER NOT NULL,
  expires_at TEXT NOT NULL
) WITHOUT ROWID;

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
);
CREATE INDEX runs_by_source ON runs (source_id, id);

-- What became of an item. Items answered "not modified" get no row: an unchanged item costs no write.
CREATE TABLE run_items (
  run_id    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  reference TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  reason    TEXT NOT NULL,
  detail    TEXT
);
CREATE INDEX run_items_by_run ON run_items (run_id);

CREATE TABLE generations (
  source_id    INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  run_id       INTEGER NOT NULL,
  activated_at TEXT,
  documents    INTEGER NOT NULL,
  PRIMARY KEY (source_id, number)
) WITHOUT ROWID;

-- Remembered answers of listings (robots.txt, sitemaps): validators and what was made of the body.
CREATE TABLE listings (
  id            INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  url           TEXT NOT NULL,
  etag          TEXT,
  last_modified TEXT,
  payload       TEXT NOT NULL,
  UNIQUE (source_id, url)
);

-- References and their versions. (The table is `refs` because REFERENCES is a word of SQL.)

CREATE TABLE refs (
  id        INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  reference TEXT NOT NULL,
  alias_of  INTEGER REFERENCES refs (id) ON DELETE SET NULL,
  UNIQUE (source_id, reference)
);
CREATE INDEX refs_aliases ON refs (alias_of) WHERE alias_of IS NOT NULL;

CREATE TABLE contents (
  id        INTEGER PRIMARY KEY,
  hash      BLOB NOT NULL UNIQUE,
  text      TEXT NOT NULL,
  sectioned INTEGER NOT NULL DEFAULT 0
);

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
);
CREATE UNIQUE INDEX documents_current ON documents (source_id, ref_id) WHERE died IS NULL;
CREATE INDEX documents_by_birth ON documents (source_id, born, died);
CREATE INDEX documents_by_death ON documents (source_id, died) WHERE died IS NOT NULL;
CREATE INDEX documents_by_content ON documents (content_id);
CREATE INDEX documents_by_ref ON documents (ref_id);

-- The one way to what readers see.
CREATE VIEW documents_active AS
  SELECT d.*, s.name AS source, s.version, s.kind, s.active_generation AS generation
  FROM documents d JOIN sources s ON s.id = d.source_id
  WHERE d.born <= s.active_generation AND (d.died IS NULL OR d.died > s.active_generation);

-- Text, once per hash.

CREATE TABLE passages (
  id           INTEGER PRIMARY KEY,
  hash         BLOB NOT NULL UNIQUE,
  heading_path TEXT NOT NULL,
  text         TEXT NOT NULL
);

CREATE TABLE sections (
  content_id INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  level      INTEGER NOT NULL,
  parent     INTEGER,
  heading    TEXT NOT NULL,
  anchor     TEXT,
  start_at   INTEGER NOT NULL,
  end_at     INTEGER NOT NULL,
  passage_id INTEGER NOT NULL REFERENCES passages (id),
  PRIMARY KEY (content_id, position)
) WITHOUT ROWID;
CREATE INDEX sections_by_passage ON sections (passage_id);

-- The index holds no second copy of the text.
CREATE VIRTUAL TABLE passages_fts USING fts5 (
  heading, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
);

CREATE TABLE models (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  digest     TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  UNIQUE (name, digest, dimensions)
);

CREATE TABLE vectors (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  passage_id INTEGER NOT NULL REFERENCES passages (id) ON DELETE CASCADE,
  model_id   INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
  vector     BLOB NOT NULL,
  UNIQUE (passage_id, model_id)
);
CREATE INDEX vectors_by_model ON vectors (model_id, id);
