DROP TABLE pages_shown;
