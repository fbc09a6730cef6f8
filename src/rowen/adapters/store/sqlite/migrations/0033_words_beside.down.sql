CREATE VIRTUAL TABLE passages_fts USING fts5 (
  heading, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
);
