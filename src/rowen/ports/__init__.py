"""What the inside needs of the outside: one Protocol a file."""
