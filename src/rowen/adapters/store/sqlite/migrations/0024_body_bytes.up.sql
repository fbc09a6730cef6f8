-- How long the body of a version was, to know later what was not sent again; 0 if not known.
ALTER TABLE documents ADD COLUMN body_bytes INTEGER NOT NULL DEFAULT 0;
