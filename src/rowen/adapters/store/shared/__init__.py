"""What both databases have in common: the store in Python, and the statements that are the same in SQL."""
