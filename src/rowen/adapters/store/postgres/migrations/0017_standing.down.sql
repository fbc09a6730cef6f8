ALTER TABLE activations DROP COLUMN actor;
ALTER TABLE activations DROP COLUMN cause;
ALTER TABLE sources DROP COLUMN pinned_by;
ALTER TABLE sources DROP COLUMN pinned_at;
ALTER TABLE sources DROP COLUMN paused_by;
ALTER TABLE sources DROP COLUMN paused_at;
ALTER TABLE sources DROP COLUMN held_at;
