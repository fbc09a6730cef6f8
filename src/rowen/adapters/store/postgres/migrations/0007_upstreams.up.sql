-- A pause belongs to an upstream, as everywhere else.
ALTER TABLE pauses RENAME COLUMN client TO upstream;
