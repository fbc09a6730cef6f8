-- The same on its way into the store.
ALTER TABLE handoffs ADD COLUMN body_bytes bigint NOT NULL DEFAULT 0;
