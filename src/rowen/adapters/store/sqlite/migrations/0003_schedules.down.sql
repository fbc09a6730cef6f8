DROP TABLE pauses;
ALTER TABLE sources DROP COLUMN paused;
ALTER TABLE sources DROP COLUMN every_s;
