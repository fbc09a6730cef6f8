ALTER TABLE documents DROP COLUMN body_bytes;
