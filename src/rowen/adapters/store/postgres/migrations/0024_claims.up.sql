-- What the signals of a source claimed, and how far that was true: one row for each signal.
CREATE TABLE claims (
  source_id  bigint NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  signal     text NOT NULL,
  claims     bigint NOT NULL,
  checked    bigint NOT NULL,
  lies       bigint NOT NULL,
  told       bigint NOT NULL,
  alarms     bigint NOT NULL,
  held       bigint NOT NULL,
  runs       bigint NOT NULL,
  turns      bigint NOT NULL,
  falls      bigint NOT NULL,
  lied_at    timestamptz,
  lied_about text,
  checked_at timestamptz,
  PRIMARY KEY (source_id, signal)
);
