-- How a source's last run ended: a partial run is no success, and every door says so without reading the runs.
ALTER TABLE sources ADD COLUMN last_result jsonb;
UPDATE sources s SET last_result = (
  SELECT jsonb_build_object('outcome', r.status, 'stop_reason', r.stop_reason,
                            'failed', coalesce(CAST(r.counters ->> 'failed' AS bigint), 0))
  FROM runs r WHERE r.source_id = s.id AND r.status <> 'running' ORDER BY r.id DESC LIMIT 1);
