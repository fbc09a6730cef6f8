-- name: pause_save
-- Leave an upstream alone until then.
INSERT INTO pauses (upstream, until, reason) VALUES (:upstream, :until, :reason)
ON CONFLICT (upstream) DO UPDATE SET until = excluded.until, reason = excluded.reason;

-- name: pause_delete
-- An upstream may be asked again.
DELETE FROM pauses WHERE upstream = :upstream;

-- name: pauses_now
-- Upstreams that must be left alone now.
SELECT upstream, until, reason FROM pauses WHERE until > :now ORDER BY upstream;

-- name: notes_like
-- The notes whose names begin so.
SELECT name, value FROM notes WHERE substr(name, 1, length(:start)) = :start ORDER BY name;

-- name: note_get
-- A note by its name.
SELECT value FROM notes WHERE name = :name;

-- name: note_save
-- A note, in place of the one before.
INSERT INTO notes (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;
