-- A text and the record it was made from say much the same: the record is packed as what goes on where its text ends.
ALTER TABLE records ADD COLUMN goes_on_from INTEGER REFERENCES contents (id);
CREATE INDEX records_going_on ON records (goes_on_from) WHERE goes_on_from IS NOT NULL;
