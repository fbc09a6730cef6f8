-- What the signals of a source claimed, and how far that was true: one row for each signal.
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
