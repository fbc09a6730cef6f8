"""Web hooks that come in."""
