-- Texts, passages and records are looked up by the first twelve bytes of their hash, which no two texts share by chance:
-- the index stays unique in less than half of its size. Statements compare the whole hash.
-- Rows elsewhere go on pointing at the table of the name: the pragma keeps SQLite from renaming it in them.
PRAGMA legacy_alter_table = ON;
ALTER TABLE contents RENAME TO contents_before;
CREATE TABLE contents (
  id        INTEGER PRIMARY KEY,
  hash      BLOB NOT NULL,
  text      TEXT NOT NULL,
  sectioned INTEGER NOT NULL DEFAULT 0
);
INSERT INTO contents (id, hash, text, sectioned) SELECT id, hash, text, sectioned FROM contents_before ORDER BY id;
DROP TABLE contents_before;
CREATE UNIQUE INDEX contents_by_hash ON contents (substr(hash, 1, 12));
ALTER TABLE passages RENAME TO passages_before;
CREATE TABLE passages (
  id           INTEGER PRIMARY KEY,
  hash         BLOB NOT NULL,
  heading_path TEXT NOT NULL,
  text         TEXT NOT NULL,
  chars        INTEGER NOT NULL DEFAULT 0
);
INSERT INTO passages (id, hash, heading_path, text, chars) SELECT id, hash, heading_path, text, chars FROM passages_before ORDER BY id;
DROP TABLE passages_before;
CREATE UNIQUE INDEX passages_by_hash ON passages (substr(hash, 1, 12));
ALTER TABLE records RENAME TO records_before;
CREATE TABLE records (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  body BLOB NOT NULL
);
INSERT INTO records (id, hash, body) SELECT id, hash, body FROM records_before ORDER BY id;
DROP TABLE records_before;
CREATE UNIQUE INDEX records_by_hash ON records (substr(hash, 1, 12));
PRAGMA legacy_alter_table = OFF;
