"""Repositories at GitHub, by its API."""
