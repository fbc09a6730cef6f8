-- How often readers were shown the pages of a source: one row a source, written in batches.
CREATE TABLE pages_shown (
  source_id bigint PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  at        timestamptz NOT NULL,
  counts    jsonb NOT NULL
);
