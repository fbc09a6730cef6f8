"""The embedded store: SQLite through apsw."""
