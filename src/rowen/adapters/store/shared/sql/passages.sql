-- name: passage_states
-- Which passages exist, and which of them have a vector under a model.
SELECT p.hash, p.id, EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model)
FROM passages p WHERE p.hash IN list(:hashes);

-- name: passages_find
-- Passages by their address.
SELECT hash, id FROM passages WHERE hash IN list(:hashes);

-- name: passages_said
-- These passages: the text where it is their own, else the first section that says it.
SELECT p.id, p.hash, p.heading_path, p.text, s.content_id, s.start_at, s.end_at, s.kept, s.heading
FROM passages p
LEFT JOIN sections s ON s.passage_id = p.id
  AND s.content_id = (SELECT min(o.content_id) FROM sections o WHERE o.passage_id = p.id)
  AND s.position = (SELECT min(o.position) FROM sections o WHERE o.passage_id = p.id AND o.content_id = s.content_id)
WHERE p.id IN list(:ids);

-- name: contents_said
-- What these contents say.
SELECT id, text_of(text) FROM contents WHERE id IN list(:ids);

-- name: passages_unsaid
-- How many passages have neither a text nor a section that says it, though sections point at them.
SELECT count(*) FROM passages p
WHERE p.text = '' AND p.chars > 0 AND EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = p.id AND s.kept IS NULL);

-- name: contents_after
-- The next contents that have sections.
SELECT id FROM contents WHERE id > :after AND sectioned ORDER BY id LIMIT :limit;

-- name: sections_said
-- How the sections of these contents cut out their passages.
SELECT s.content_id, s.start_at, s.end_at, s.kept, s.heading, p.hash, p.heading_path
FROM sections s JOIN passages p ON p.id = s.passage_id
WHERE s.content_id IN list(:ids) AND s.kept IS NOT NULL;

-- name: embedding_gap
-- Visible passages in all, the ones without a vector under a model, and the characters of those.
SELECT count(*), count(*) FILTER (WHERE missing), CAST(coalesce(sum(size) FILTER (WHERE missing), 0) AS bigint)
FROM (
  SELECT p.chars + length(p.heading_path) + 1 AS size,
         NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage_id = p.id AND v.model_id = :model) AS missing
  FROM passages p
  WHERE p.id IN (SELECT s.passage_id FROM documents_active d JOIN sections s ON s.content_id = d.content_id
                 WHERE s.form <> 'details' AND (CAST(:source AS bigint) IS NULL OR d.source_id = :source))
) AS visible;

-- name: unembedded
-- Visible passages without a vector under a model.
SELECT p.id FROM passages p
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
