-- Since when and by whom a source is held, paused or pinned, and why a generation was shown.
ALTER TABLE sources ADD COLUMN held_at timestamptz;
ALTER TABLE sources ADD COLUMN paused_at timestamptz;
ALTER TABLE sources ADD COLUMN paused_by text;
ALTER TABLE sources ADD COLUMN pinned_at timestamptz;
ALTER TABLE sources ADD COLUMN pinned_by text;
UPDATE sources SET held_at = last_error_at WHERE held_generation IS NOT NULL;
ALTER TABLE activations ADD COLUMN cause text NOT NULL DEFAULT 'run';
ALTER TABLE activations ADD COLUMN actor text;
-- A run that was held keeps that status, so what it showed was approved; a rollback has no run.
UPDATE activations SET cause = 'rollback' WHERE run_id IS NULL;
UPDATE activations SET cause = 'approval' WHERE run_id IN (SELECT id FROM runs WHERE status = 'held');
