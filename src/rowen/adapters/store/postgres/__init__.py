"""The Store port on PostgreSQL with pgvector: for more than one machine."""
