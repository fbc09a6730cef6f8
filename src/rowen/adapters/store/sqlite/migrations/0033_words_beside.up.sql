DROP TABLE passages_fts;
