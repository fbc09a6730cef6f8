PRAGMA legacy_alter_table = ON;
ALTER TABLE contents RENAME TO contents_before;
CREATE TABLE contents (
  id        INTEGER PRIMARY KEY,
  hash      BLOB NOT NULL UNIQUE,
  text      TEXT NOT NULL,
  sectioned INTEGER NOT NULL DEFAULT 0
);
INSERT INTO contents (id, hash, text, sectioned) SELECT id, hash, text, sectioned FROM contents_before ORDER BY id;
DROP TABLE contents_before;
ALTER TABLE passages RENAME TO passages_before;
CREATE TABLE passages (
  id           INTEGER PRIMARY KEY,
  hash         BLOB NOT NULL UNIQUE,
  heading_path TEXT NOT NULL,
  text         TEXT NOT NULL
, chars INTEGER NOT NULL DEFAULT 0);
INSERT INTO passages (id, hash, heading_path, text, chars) SELECT id, hash, heading_path, text, chars FROM passages_before ORDER BY id;
DROP TABLE passages_before;
ALTER TABLE records RENAME TO records_before;
CREATE TABLE records (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  body BLOB NOT NULL
);
INSERT INTO records (id, hash, body) SELECT id, hash, body FROM records_before ORDER BY id;
DROP TABLE records_before;
PRAGMA legacy_alter_table = OFF;
