-- Items as their sources sent them: JSON, compressed, once for each hash; by reference and version.
CREATE TABLE records (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  body BLOB NOT NULL
);
CREATE TABLE document_records (
  ref_id       INTEGER NOT NULL REFERENCES refs (id) ON DELETE CASCADE,
  payload_hash BLOB NOT NULL,
  record_id    INTEGER NOT NULL REFERENCES records (id),
  PRIMARY KEY (ref_id, payload_hash)
) WITHOUT ROWID;
CREATE INDEX document_records_by_record ON document_records (record_id);
