-- Names that sites say they document (Sphinx: objects.inv), with the page and the anchor; `words` as in sections.
CREATE TABLE inventory (
  id        INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  words     TEXT NOT NULL,
  name      TEXT NOT NULL,
  kind      TEXT NOT NULL,
  page      TEXT NOT NULL,
  anchor    TEXT NOT NULL
);
CREATE INDEX inventory_by_source ON inventory (source_id);
CREATE INDEX inventory_by_words ON inventory (words);
