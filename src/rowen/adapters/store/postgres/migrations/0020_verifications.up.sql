-- When everything readers see of a source was last looked at, and how: one row a source.
CREATE TABLE verifications (
  source_id  bigint PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
  at         timestamptz NOT NULL,
  way        text,
  exceptions jsonb NOT NULL
);
