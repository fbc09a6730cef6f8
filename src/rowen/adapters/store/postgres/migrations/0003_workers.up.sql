-- What workers did for a run. The tickets themselves are in the tables of the engine that carries them, which come
-- and go with this step (`engine.py`).
CREATE TABLE run_shares (
  run_id   bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  counters jsonb NOT NULL
);
CREATE INDEX run_shares_by_run ON run_shares (run_id);
