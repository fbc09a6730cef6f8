-- Pages that changed at least once: what their checks say about how fast they change.
CREATE TABLE page_changes (
  ref_id      bigint PRIMARY KEY REFERENCES refs (id) ON DELETE CASCADE,
  source_id   bigint NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  changes     double precision NOT NULL,
  changed_s   double precision NOT NULL,
  unchanged_s double precision NOT NULL
);
CREATE INDEX page_changes_by_source ON page_changes (source_id);

-- How fast pages change in the folders of a source, and when that was learnt.
ALTER TABLE verifications ADD COLUMN rates jsonb;
ALTER TABLE verifications ADD COLUMN learnt_at timestamptz;
