-- When everything readers see of a source was last looked at, and how: one row a source.
CREATE TABLE verifications (
  source_id  INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  at         TEXT NOT NULL,
  way        TEXT,
  exceptions TEXT NOT NULL
) WITHOUT ROWID;
