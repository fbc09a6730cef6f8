"""Who is told of trouble, once for a streak of failures."""
