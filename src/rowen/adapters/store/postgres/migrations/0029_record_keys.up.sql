-- By which records of the same dataset on several portals are found.
CREATE TABLE record_keys (
  record_id bigint NOT NULL REFERENCES records (id) ON DELETE CASCADE,
  key       bigint NOT NULL,
  PRIMARY KEY (record_id, key)
);
CREATE INDEX record_keys_by_key ON record_keys (key);
