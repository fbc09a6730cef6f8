ALTER TABLE handoffs DROP COLUMN body_bytes;
