-- The same on its way into the store.
ALTER TABLE handoffs ADD COLUMN body_bytes INTEGER NOT NULL DEFAULT 0;
