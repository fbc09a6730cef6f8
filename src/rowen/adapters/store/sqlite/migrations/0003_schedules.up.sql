-- When sources run, who is paused, and which client must be left alone.
ALTER TABLE sources ADD COLUMN every_s REAL;
ALTER TABLE sources ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;

CREATE TABLE pauses (
  client TEXT PRIMARY KEY,
  until  TEXT NOT NULL,
  reason TEXT NOT NULL
) WITHOUT ROWID;
