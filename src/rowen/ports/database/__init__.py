"""A store as one database: the schema it has, damage in it, and moving all of it."""
