-- The pages of one crawl that workers ask for. A host's row stays while the run goes on, so that the numbers of its
-- turns never repeat; `out` says that somebody is on the way there.
CREATE TABLE shard_turns (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  host   TEXT NOT NULL,
  turn   INTEGER NOT NULL,
  out    INTEGER NOT NULL,
  PRIMARY KEY (run_id, host)
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
CREATE INDEX questions_by_turn ON questions (run_id, host, turn);
CREATE INDEX questions_answered ON questions (run_id) WHERE answer IS NOT NULL;
