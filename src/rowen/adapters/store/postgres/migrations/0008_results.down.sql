ALTER TABLE sources DROP COLUMN last_result;
