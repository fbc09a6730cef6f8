DELETE FROM handoffs WHERE content_id IS NULL;
ALTER TABLE handoffs DROP COLUMN retry_at;
ALTER TABLE handoffs ALTER COLUMN content_id SET NOT NULL;
DROP INDEX handoffs_by_generation;
CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation);
DROP INDEX handoffs_by_status;
CREATE INDEX handoffs_by_status ON handoffs (source_id, status);
