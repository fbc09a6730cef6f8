ALTER TABLE activations DROP COLUMN documents;
