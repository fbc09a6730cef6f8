-- When the next attempt at a handoff is due. A finished one outlives its text: it is kept by time, the text by
-- generations.
ALTER TABLE handoffs ALTER COLUMN content_id DROP NOT NULL;
ALTER TABLE handoffs ADD COLUMN retry_at timestamptz;
CREATE INDEX handoffs_by_retry ON handoffs (source_id, retry_at) WHERE retry_at IS NOT NULL;
DROP INDEX handoffs_by_generation;
CREATE INDEX handoffs_by_generation ON handoffs (source_id, generation) WHERE content_id IS NOT NULL;
DROP INDEX handoffs_by_status;
CREATE INDEX handoffs_by_status ON handoffs (source_id, status, updated_at);
