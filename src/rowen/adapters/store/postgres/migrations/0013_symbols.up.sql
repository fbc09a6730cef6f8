-- What a section defines, how much of it is links (in percent), and what it is made of. `symbol_words` is what a symbol is
-- looked up by: the last part of its name in lower case, without marks.
ALTER TABLE sections
  ADD COLUMN link_share   smallint NOT NULL DEFAULT 0,
  ADD COLUMN form         text NOT NULL DEFAULT 'prose',
  ADD COLUMN symbol       text,
  ADD COLUMN symbol_kind  text,
  ADD COLUMN symbol_words text COLLATE "C";
CREATE INDEX sections_by_symbol ON sections (symbol_words) WHERE symbol_words IS NOT NULL;
