DROP TABLE deliveries;
DROP TABLE sync_requests;
DROP TABLE tokens;
DROP TABLE sinks;
DROP TABLE activations;
ALTER TABLE runs DROP COLUMN "window";
