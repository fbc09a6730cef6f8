DROP INDEX sections_by_symbol;
ALTER TABLE sections DROP COLUMN symbol_words;
ALTER TABLE sections DROP COLUMN symbol_kind;
ALTER TABLE sections DROP COLUMN symbol;
ALTER TABLE sections DROP COLUMN form;
ALTER TABLE sections DROP COLUMN link_share;
