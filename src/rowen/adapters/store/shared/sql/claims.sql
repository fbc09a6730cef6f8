-- name: claims_of
-- What the signals of sources claimed, and how far that was true.
SELECT source_id, signal, claims, checked, lies, told, alarms, held, runs, turns, falls, lied_at, lied_about,
       checked_at
FROM claims WHERE source_id IN list(:sources) ORDER BY source_id, signal;

-- name: claims_save
-- The record of one signal, in place of the one before.
INSERT INTO claims (source_id, signal, claims, checked, lies, told, alarms, held, runs, turns, falls, lied_at,
                    lied_about, checked_at)
VALUES (:source, :signal, :claims, :checked, :lies, :told, :alarms, :held, :runs, :turns, :falls, :lied_at,
        :lied_about, :checked_at)
ON CONFLICT (source_id, signal) DO UPDATE SET
  claims = excluded.claims, checked = excluded.checked, lies = excluded.lies, told = excluded.told,
  alarms = excluded.alarms, held = excluded.held, runs = excluded.runs, turns = excluded.turns,
  falls = excluded.falls, lied_at = excluded.lied_at, lied_about = excluded.lied_about,
  checked_at = excluded.checked_at;
