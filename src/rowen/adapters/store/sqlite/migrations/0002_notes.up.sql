-- What a store remembers that belongs to no source: the breaker of a provider, the model that search uses.
CREATE TABLE notes (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
