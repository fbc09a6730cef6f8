"""Search on PostgreSQL: words, ranking by keyword, ranking by vector, and the index of large models."""
