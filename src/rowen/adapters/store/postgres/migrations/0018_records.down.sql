DROP TABLE document_records;
DROP TABLE records;
