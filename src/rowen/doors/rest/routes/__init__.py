"""One file a group of endpoints."""
