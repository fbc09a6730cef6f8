-- name: pause_save
-- Leave an upstream alone until then.
INSERT INTO pauses (upstream, until, reason) VALUES (:upstream, :until, :reason)
ON CONFLICT (upstream) DO UPDATE SET until = excluded.until, reason = excluded.reason;

-- name: pause_delete
-- An upstream may be asked again.
DELETE FROM pauses WHERE upstream = :upstream;

-- name: pauses_now
-- Upstreams that must be left alone now.
SELECT upstream, until, reason FROM pauses WHERE until > :now AND until <= :latest ORDER BY upstream;

-- name: times_ahead
-- Stored times that lie in the future: what each belongs to, its name, and the time.
SELECT 'source', name || CASE version WHEN '' THEN '' ELSE '@' || version END, what, at FROM (
  SELECT name, version, 'last_run_at' AS what, last_run_at AS at FROM sources
  UNION ALL SELECT name, version, 'last_success_at', last_success_at FROM sources
  UNION ALL SELECT name, version, 'last_error_at', last_error_at FROM sources
  UNION ALL SELECT name, version, 'watermark', watermark FROM sources
) times WHERE at > :now
UNION ALL SELECT 'sink', name, 'last_run_at', last_run_at FROM sinks WHERE last_run_at > :now
UNION ALL SELECT 'upstream', upstream, 'paused until', until FROM pauses WHERE until > :pause
UNION ALL SELECT 'lease', name, 'expires_at', expires_at FROM leases
  WHERE expires_at > :lease AND substr(name, 1, 7) <> 'worker:'
ORDER BY 1, 2, 3;

-- name: notes_like
-- The notes whose names begin so.
SELECT name, value FROM notes WHERE substr(name, 1, length(:start)) = :start ORDER BY name;

-- name: notes_named
-- Notes by their names.
SELECT name, value FROM notes WHERE name IN list(:names);

-- name: note_get
-- A note by its name.
SELECT value FROM notes WHERE name = :name;

-- name: note_delete
-- A note that is not needed any more.
DELETE FROM notes WHERE name = :name;

-- name: note_save
-- A note, in place of the one before.
INSERT INTO notes (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;
