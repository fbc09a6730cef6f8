"""The life of a run: lease, harvest, compare, ingest, guard, activate."""
