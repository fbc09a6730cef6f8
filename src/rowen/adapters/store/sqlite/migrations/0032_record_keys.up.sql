-- By which records of the same dataset on several portals are found.
CREATE TABLE record_keys (
  record_id INTEGER NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  key       INTEGER NOT NULL,
  PRIMARY KEY (record_id, key)
) WITHOUT ROWID;
CREATE INDEX record_keys_by_key ON record_keys (key);
