DROP TABLE inventory;
