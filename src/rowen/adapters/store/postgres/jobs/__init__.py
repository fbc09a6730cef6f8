"""Tickets on PostgreSQL, carried by PGQueuer."""
