"""What differs between two texts, for people: by sections, paragraphs and words."""
