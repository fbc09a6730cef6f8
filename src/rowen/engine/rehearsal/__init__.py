"""A run without its effects: the kind asks its source, and nothing that readers see is written."""
