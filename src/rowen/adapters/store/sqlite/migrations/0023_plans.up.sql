-- What a source answered while a plan was made, until the plan is applied or a day has passed.
CREATE TABLE planned_answers (
  plan      TEXT NOT NULL,
  key       BLOB NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  at        TEXT NOT NULL,
  answer    TEXT NOT NULL,
  body      BLOB NOT NULL,
  PRIMARY KEY (plan, key)
);
CREATE INDEX planned_answers_by_source ON planned_answers (source_id);
