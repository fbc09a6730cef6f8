-- name: passage_states
-- Which passages exist, and which of them have a vector under a model.
SELECT p.hash, p.id, EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model)
FROM passages p WHERE p.hash IN list(:hashes);

-- name: passages_find
-- Passages by their address.
SELECT hash, id FROM passages WHERE hash IN list(:hashes);

-- name: embedding_gap
-- Visible passages in all, the ones without a vector under a model, and the characters of those.
SELECT count(*), count(*) FILTER (WHERE missing), CAST(coalesce(sum(size) FILTER (WHERE missing), 0) AS bigint)
FROM (
  SELECT length(p.text) + length(p.heading_path) + 1 AS size,
         NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model) AS missing
  FROM passages p
  WHERE p.id IN (SELECT s.passage_id FROM documents_active d JOIN sections s ON s.content_id = d.content_id
                 WHERE s.form <> 'details' AND (CAST(:source AS bigint) IS NULL OR d.source_id = :source))
) AS visible;

-- name: unembedded
-- Visible passages without a vector under a model.
SELECT p.hash, p.heading_path, p.text FROM passages p
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model)
  AND EXISTS (SELECT 1 FROM sections s JOIN documents_active d ON d.content_id = s.content_id
              WHERE s.passage_id = p.id AND s.form <> 'details')
LIMIT :limit;

-- name: model_find
-- A model by what makes it that model.
SELECT id FROM models WHERE name = :name AND digest = :digest AND dimensions = :dimensions;

-- name: model_insert
-- A model met for the first time.
INSERT INTO models (name, digest, dimensions) VALUES (:name, :digest, :dimensions) RETURNING id;

-- name: vectors_there
-- Of these passages, the ones that have a vector under a model.
SELECT passage_id FROM vectors WHERE model_id = :model AND passage_id IN list(:passages);
