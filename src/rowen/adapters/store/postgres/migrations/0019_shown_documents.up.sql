-- How many documents readers saw after each activation: generations themselves are forgotten.
ALTER TABLE activations ADD COLUMN documents bigint;
UPDATE activations SET documents = (
  SELECT g.documents FROM generations g
  WHERE g.source_id = activations.source_id AND g.number = activations.generation);
