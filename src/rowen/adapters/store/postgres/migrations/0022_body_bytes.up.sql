-- How long the body of a version was, to know later what was not sent again; 0 if not known.
DROP VIEW documents_active;
ALTER TABLE documents ADD COLUMN body_bytes bigint NOT NULL DEFAULT 0;
CREATE VIEW documents_active AS
  SELECT d.*, s.name AS source, s.version, s.kind, s.active_generation AS generation
  FROM documents d JOIN sources s ON s.id = d.source_id
  WHERE d.born <= s.active_generation AND (d.died IS NULL OR d.died > s.active_generation);
