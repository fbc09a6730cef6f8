-- What runs that asked for some pages only have verified, packed (core/web/looks.py).
ALTER TABLE verifications ADD COLUMN looks bytea;
