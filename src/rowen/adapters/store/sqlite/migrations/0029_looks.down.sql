ALTER TABLE verifications DROP COLUMN looks;
