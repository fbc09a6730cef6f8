-- Long texts are stored as zstd; the functions are the connection's own.
UPDATE contents SET text = packed(text);
