"""Sources that list everything they have."""
