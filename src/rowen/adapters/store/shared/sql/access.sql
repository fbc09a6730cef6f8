-- name: token_insert
-- A new token: its hash, never itself.
INSERT INTO tokens (name, digest, scope, created_at) VALUES (:name, :digest, :scope, :now) ON CONFLICT DO NOTHING
RETURNING id, name, scope, created_at, last_used_at;

-- name: tokens_all
-- Every token.
SELECT id, name, scope, created_at, last_used_at FROM tokens ORDER BY name;

-- name: token_find
-- The token with this hash.
SELECT id, name, scope, created_at, last_used_at FROM tokens WHERE digest = :digest;

-- name: token_used
-- When a token was last used.
UPDATE tokens SET last_used_at = :now WHERE id = :token;

-- name: token_delete
-- A token that is no longer accepted.
DELETE FROM tokens WHERE name = :name;

-- name: deliveries_forget
-- Deliveries so old that they are not repeated any more.
DELETE FROM deliveries WHERE at < :before;

-- name: requests_all
-- The longest waiting first.
SELECT source_id, number, "only", "full", reason, requested_at FROM sync_requests
ORDER BY requested_at, source_id;

-- name: request_delete
-- A request that no other joined since; the time tells it from a later one, whose numbers begin anew.
DELETE FROM sync_requests WHERE source_id = :source AND number = :number AND requested_at = :at;

-- name: request_find
-- The waiting request.
SELECT source_id, number, "only", "full", reason, requested_at FROM sync_requests WHERE source_id = :source;

-- name: request_to_join
-- The waiting request, before another joins it.
SELECT source_id, number, "only", "full", reason, requested_at FROM sync_requests WHERE source_id = :source;

-- name: request_insert
-- The first request for a source.
INSERT INTO sync_requests (source_id, number, "only", "full", reason, requested_at)
VALUES (:source, 1, :only, :full, :reason, :now)
RETURNING source_id, number, "only", "full", reason, requested_at;

-- name: request_join
-- The waiting request after another joined it; its place in the queue stays.
UPDATE sync_requests SET number = number + 1, "only" = :only, "full" = :full, reason = :reason
WHERE source_id = :source
RETURNING source_id, number, "only", "full", reason, requested_at;
