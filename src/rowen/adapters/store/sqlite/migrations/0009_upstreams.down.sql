ALTER TABLE pauses RENAME COLUMN upstream TO client;
