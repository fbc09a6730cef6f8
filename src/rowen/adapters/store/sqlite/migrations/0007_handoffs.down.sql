DROP TABLE handoffs;
