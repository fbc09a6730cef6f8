"""Ports on real things: databases, HTTP, files, programs. Wiring alone picks them."""
