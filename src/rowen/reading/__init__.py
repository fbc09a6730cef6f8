"""What readers ask: search, read, what changed, diff, history."""
