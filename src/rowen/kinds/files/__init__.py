"""A folder, or one file."""
