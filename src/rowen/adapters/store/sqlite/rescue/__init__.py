"""A damaged SQLite file: what can be read of it, in a new file whose rows belong together."""
