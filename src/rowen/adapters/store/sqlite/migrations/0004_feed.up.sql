-- What was shown to readers and when, who is told of it, what a run asked for, and who may call.
ALTER TABLE runs ADD COLUMN window TEXT;

ALTER TABLE run_items RENAME TO run_items_before;
CREATE TABLE run_items (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  reference TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  reason    TEXT NOT NULL,
  detail    TEXT
);
INSERT INTO run_items (run_id, reference, outcome, reason, detail)
SELECT run_id, reference, outcome, reason, detail FROM run_items_before ORDER BY rowid;
DROP TABLE run_items_before;
CREATE INDEX run_items_by_run ON run_items (run_id, id);

CREATE TABLE activations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id  INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  previous   INTEGER NOT NULL,
  run_id     INTEGER,
  at         TEXT NOT NULL
);
INSERT INTO activations (source_id, generation, previous, run_id, at)
SELECT source_id, number, number - 1, run_id, activated_at FROM generations
WHERE activated_at IS NOT NULL ORDER BY activated_at;

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

CREATE TABLE tokens (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  digest       BLOB NOT NULL UNIQUE,
  scope        TEXT NOT NULL CHECK (scope IN ('read', 'sync', 'admin')),
  created_at   TEXT NOT NULL,
  last_used_at TEXT
);

CREATE TABLE sync_requests (
  source_id    INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  only         TEXT,
  "full"       INTEGER NOT NULL DEFAULT 0,
  reason       TEXT NOT NULL,
  requested_at TEXT NOT NULL
);

CREATE TABLE deliveries (
  hook     TEXT NOT NULL,
  delivery TEXT NOT NULL,
  at       TEXT NOT NULL,
  PRIMARY KEY (hook, delivery)
) WITHOUT ROWID;
CREATE INDEX deliveries_by_time ON deliveries (at);
