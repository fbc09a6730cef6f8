"""Sources and stores: add, find, apply a registry, estimate, remove, copy."""
