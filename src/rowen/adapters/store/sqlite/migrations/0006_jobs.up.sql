-- Tickets for work that any process may do, and what workers did for a run.
CREATE TABLE jobs (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  task       TEXT NOT NULL,
  payload    TEXT NOT NULL,
  priority   INTEGER NOT NULL DEFAULT 0,
  due_at     TEXT NOT NULL,
  owner      TEXT,
  expires_at TEXT
);
CREATE INDEX jobs_by_turn ON jobs (priority DESC, id);

CREATE TABLE run_shares (
  run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  counters TEXT NOT NULL
);
CREATE INDEX run_shares_by_run ON run_shares (run_id);
