"""What the store promises: one Protocol a topic."""
