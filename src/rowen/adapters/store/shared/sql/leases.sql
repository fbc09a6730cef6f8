-- name: lease_take
-- Take a lease that is free, released or expired; the token grows with each owner.
INSERT INTO leases (name, owner, token, expires_at) VALUES (:name, :owner, 1, :expires)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = leases.token + 1, expires_at = excluded.expires_at
WHERE leases.expires_at IS NULL OR leases.expires_at <= :now
RETURNING token;

-- name: lease_shorten
-- No lease ends later than one that is taken now: a clock that was ahead wrote it, and its owner may be gone.
UPDATE leases SET expires_at = :expires WHERE name = :name AND expires_at > :expires;

-- name: lease_get
-- Who holds a lease.
SELECT name, owner, token, expires_at FROM leases WHERE name = :name;

-- name: leases_like
-- Who holds the leases whose names begin so.
SELECT name, owner, token, expires_at FROM leases WHERE substr(name, 1, length(:start)) = :start ORDER BY name;

-- name: leases_forget
-- Leases whose names begin so and that were released or expired before a moment.
DELETE FROM leases
WHERE substr(name, 1, length(:start)) = :start AND (expires_at IS NULL OR expires_at < :before);

-- name: lease_renew
-- The heartbeat.
UPDATE leases SET expires_at = :expires WHERE name = :name AND token = :token RETURNING token;

-- name: lease_check
-- Is this token the newest? Part of every write of a run.
SELECT 1 FROM leases WHERE name = :name AND token = :token;
