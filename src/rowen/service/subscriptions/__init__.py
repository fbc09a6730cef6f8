"""Subscriptions: a path, a heading, a name or a question, and who is told when its answer changes."""
