UPDATE contents SET text = packed(text_of(text)) WHERE typeof(text) = 'blob';
UPDATE documents SET metadata = text_of(metadata) WHERE typeof(metadata) = 'blob';
UPDATE records SET body = deflated(body);
DROP TABLE dictionaries;
