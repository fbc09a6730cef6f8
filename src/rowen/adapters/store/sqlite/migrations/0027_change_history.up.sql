-- Pages that changed at least once: what their checks say about how fast they change.
CREATE TABLE page_changes (
  ref_id      INTEGER PRIMARY KEY REFERENCES refs (id) ON DELETE CASCADE,
  source_id   INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  changes     REAL NOT NULL,
  changed_s   REAL NOT NULL,
  unchanged_s REAL NOT NULL
);
CREATE INDEX page_changes_by_source ON page_changes (source_id);

-- How fast pages change in the folders of a source, and when that was learnt.
ALTER TABLE verifications ADD COLUMN rates TEXT;
ALTER TABLE verifications ADD COLUMN learnt_at TEXT;
