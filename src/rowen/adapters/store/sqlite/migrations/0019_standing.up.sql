-- Since when and by whom a source is held, paused or pinned, and why a generation was shown.
ALTER TABLE sources ADD COLUMN held_at TEXT;
ALTER TABLE sources ADD COLUMN paused_at TEXT;
ALTER TABLE sources ADD COLUMN paused_by TEXT;
ALTER TABLE sources ADD COLUMN pinned_at TEXT;
ALTER TABLE sources ADD COLUMN pinned_by TEXT;
UPDATE sources SET held_at = last_error_at WHERE held_generation IS NOT NULL;
ALTER TABLE activations ADD COLUMN cause TEXT NOT NULL DEFAULT 'run';
ALTER TABLE activations ADD COLUMN actor TEXT;
-- A run that was held keeps that status, so what it showed was approved; a rollback has no run.
UPDATE activations SET cause = 'rollback' WHERE run_id IS NULL;
UPDATE activations SET cause = 'approval' WHERE run_id IN (SELECT id FROM runs WHERE status = 'held');
CREATE INDEX activations_by_source ON activations (source_id, id);
