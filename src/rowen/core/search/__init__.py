"""Queries, ranking, snippets, and what a search asks and answers."""
