"""Signed deliveries to a receiver."""
