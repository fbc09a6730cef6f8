-- What a source answered while a plan was made, until the plan is applied or a day has passed.
CREATE TABLE planned_answers (
  plan      text NOT NULL,
  key       bytea NOT NULL,
  source_id bigint NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  at        timestamptz NOT NULL,
  answer    jsonb NOT NULL,
  body      bytea NOT NULL,
  PRIMARY KEY (plan, key)
);
CREATE INDEX planned_answers_by_source ON planned_answers (source_id);
