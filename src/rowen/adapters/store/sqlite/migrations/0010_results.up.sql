-- How a source's last run ended: a partial run is no success, and every door says so without reading the runs.
ALTER TABLE sources ADD COLUMN last_result TEXT;
UPDATE sources SET last_result = (
  SELECT json_object('outcome', r.status, 'stop_reason', r.stop_reason,
                     'failed', coalesce(json_extract(r.counters, '$.failed'), 0))
  FROM runs r WHERE r.source_id = sources.id AND r.status <> 'running' ORDER BY r.id DESC LIMIT 1);
