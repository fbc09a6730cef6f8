-- Sources that were removed, numbered among the activations; of each label, the last time.
CREATE TABLE removals (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  version    TEXT NOT NULL,
  kind       TEXT NOT NULL,
  generation INTEGER NOT NULL,
  at         TEXT NOT NULL,
  UNIQUE (name, version)
);
