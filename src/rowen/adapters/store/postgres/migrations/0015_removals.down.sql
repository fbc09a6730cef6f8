DROP TABLE removals;
