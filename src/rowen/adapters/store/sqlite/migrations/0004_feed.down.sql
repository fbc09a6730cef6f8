DROP TABLE deliveries;
DROP TABLE sync_requests;
DROP TABLE tokens;
DROP TABLE sinks;
DROP TABLE activations;
ALTER TABLE run_items RENAME TO run_items_numbered;
CREATE TABLE run_items (
  run_id    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  reference TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  reason    TEXT NOT NULL,
  detail    TEXT
);
INSERT INTO run_items SELECT run_id, reference, outcome, reason, detail FROM run_items_numbered ORDER BY id;
DROP TABLE run_items_numbered;
CREATE INDEX run_items_by_run ON run_items (run_id);
ALTER TABLE runs DROP COLUMN window;
