"""Making a store match `rowen.toml`."""
