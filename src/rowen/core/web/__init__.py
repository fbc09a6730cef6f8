"""Addresses and what servers send: URLs, scope, JSON, Retry-After."""
