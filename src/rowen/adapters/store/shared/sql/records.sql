-- name: records_find
-- Records by their address.
SELECT hash, id FROM records WHERE hash IN list(:hashes);

-- name: records_insert
-- Records met for the first time.
COPY records (hash, body) FROM STDIN;

-- name: record_keys_insert
-- By which records of the same dataset are found.
COPY record_keys (record_id, key) FROM STDIN;

-- name: keys_of_documents
-- The keys of documents that readers see.
SELECT d.id, x.record_id, k.key
FROM documents_active d
JOIN document_records x ON x.ref_id = d.ref_id AND x.payload_hash = d.payload_hash
JOIN record_keys k ON k.record_id = x.record_id
WHERE d.id IN list(:documents);

-- name: documents_with_records
-- Documents that readers see and that were made from these records.
SELECT d.id, d.source_id, d.source, d.version, d.url, d.title, x.record_id
FROM document_records x
JOIN documents_active d ON d.ref_id = x.ref_id AND d.payload_hash = x.payload_hash
WHERE x.record_id IN list(:records);

-- name: keys_of_records
-- All keys of these records.
SELECT record_id, key FROM record_keys WHERE record_id IN list(:records);

-- name: document_record_save
-- The record that a version was made from; a version that comes again has the newest.
INSERT INTO document_records (ref_id, payload_hash, record_id) VALUES (:ref, :payload_hash, :record)
ON CONFLICT (ref_id, payload_hash) DO UPDATE SET record_id = excluded.record_id;

-- name: record_of
-- The record of a document that readers see.
SELECT r.body
FROM documents_active d
JOIN document_records x ON x.ref_id = d.ref_id AND x.payload_hash = d.payload_hash
JOIN records r ON r.id = x.record_id
WHERE d.id = :document;

-- name: record_hashes
-- Which records these documents were made from.
SELECT d.id, r.hash
FROM documents d
JOIN document_records x ON x.ref_id = d.ref_id AND x.payload_hash = d.payload_hash
JOIN records r ON r.id = x.record_id
WHERE d.id IN list(:documents);

-- name: document_records_vacuum
-- Records of these references whose version no document has.
DELETE FROM document_records
WHERE ref_id IN list(:refs)
  AND NOT EXISTS (SELECT 1 FROM documents d
                  WHERE d.ref_id = document_records.ref_id AND d.payload_hash = document_records.payload_hash)
  AND NOT EXISTS (SELECT 1 FROM handoffs h
                  WHERE h.ref_id = document_records.ref_id AND h.payload_hash = document_records.payload_hash
                    AND h.content_id IS NOT NULL)
RETURNING record_id;

-- name: document_records_vacuum_all
-- The same of all references: a scan.
DELETE FROM document_records
WHERE NOT EXISTS (SELECT 1 FROM documents d
                  WHERE d.ref_id = document_records.ref_id AND d.payload_hash = document_records.payload_hash)
  AND NOT EXISTS (SELECT 1 FROM handoffs h
                  WHERE h.ref_id = document_records.ref_id AND h.payload_hash = document_records.payload_hash
                    AND h.content_id IS NOT NULL)
RETURNING record_id;

-- name: records_delete
-- Of these records, the ones of no version.
DELETE FROM records
WHERE id IN list(:ids) AND NOT EXISTS (SELECT 1 FROM document_records x WHERE x.record_id = records.id);

-- name: records_delete_all
-- The records of no version: a scan.
DELETE FROM records WHERE NOT EXISTS (SELECT 1 FROM document_records x WHERE x.record_id = records.id);
