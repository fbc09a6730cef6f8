"""Documentation sites."""
