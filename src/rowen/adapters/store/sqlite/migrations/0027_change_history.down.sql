ALTER TABLE verifications DROP COLUMN learnt_at;
ALTER TABLE verifications DROP COLUMN rates;
DROP TABLE page_changes;
