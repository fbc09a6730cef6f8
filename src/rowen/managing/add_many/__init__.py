"""Adding all the portals of a list."""
