DROP VIEW documents_active;
ALTER TABLE documents DROP COLUMN body_bytes;
CREATE VIEW documents_active AS
  SELECT d.*, s.name AS source, s.version, s.kind, s.active_generation AS generation
  FROM documents d JOIN sources s ON s.id = d.source_id
  WHERE d.born <= s.active_generation AND (d.died IS NULL OR d.died > s.active_generation);
