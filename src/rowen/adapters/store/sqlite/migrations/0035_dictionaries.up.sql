-- What the short values of a source have in common: texts, records and metadata are packed with it.
CREATE TABLE dictionaries (
  id        INTEGER PRIMARY KEY,
  source_id INTEGER UNIQUE REFERENCES sources (id) ON DELETE SET NULL,
  body      BLOB NOT NULL
);
