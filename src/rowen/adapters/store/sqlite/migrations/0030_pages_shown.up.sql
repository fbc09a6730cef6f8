-- How often readers were shown the pages of a source: one row a source, written in batches.
CREATE TABLE pages_shown (
  source_id INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  at        TEXT NOT NULL,
  counts    TEXT NOT NULL
) WITHOUT ROWID;
