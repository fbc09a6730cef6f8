"""The Store port: once in Python, twice in SQL."""
