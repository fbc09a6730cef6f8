DROP INDEX sections_by_symbol;
ALTER TABLE sections
  DROP COLUMN link_share,
  DROP COLUMN form,
  DROP COLUMN symbol,
  DROP COLUMN symbol_kind,
  DROP COLUMN symbol_words;
