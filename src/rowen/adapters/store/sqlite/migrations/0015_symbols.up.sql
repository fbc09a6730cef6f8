-- What a section defines, how much of it is links (in percent), and what it is made of. `symbol_words` is what a symbol is
-- looked up by: the last part of its name in lower case, without marks.
ALTER TABLE sections ADD COLUMN link_share INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sections ADD COLUMN form TEXT NOT NULL DEFAULT 'prose';
ALTER TABLE sections ADD COLUMN symbol TEXT;
ALTER TABLE sections ADD COLUMN symbol_kind TEXT;
ALTER TABLE sections ADD COLUMN symbol_words TEXT;
CREATE INDEX sections_by_symbol ON sections (symbol_words) WHERE symbol_words IS NOT NULL;
