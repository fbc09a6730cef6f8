"""Texts as such: marks of Markdown, where a long text is cut, how many tokens it has."""
