-- A passage is cut out of its content: which runs of a section's slice stay, and how long the text is. A step in Python
-- (`shared/steps.py`) fills both in, and then empties the texts of passages.
ALTER TABLE sections ADD COLUMN kept BLOB;
ALTER TABLE passages ADD COLUMN chars INTEGER NOT NULL DEFAULT 0;
