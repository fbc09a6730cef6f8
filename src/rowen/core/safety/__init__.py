"""Secrets by reference, private addresses, scopes of tokens."""
