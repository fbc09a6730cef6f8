DROP INDEX vectors_by_model;
