UPDATE contents SET text = text_of(text);
