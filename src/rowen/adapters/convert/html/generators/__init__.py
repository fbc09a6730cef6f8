"""Pages of documentation generators: which names they define, and where."""
