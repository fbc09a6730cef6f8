"""The store by topic, as the port is: one class each, its methods units of work."""
