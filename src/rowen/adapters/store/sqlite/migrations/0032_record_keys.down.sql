DROP TABLE record_keys;
