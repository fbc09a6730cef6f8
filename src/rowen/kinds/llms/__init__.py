"""The Markdown that a site lists in llms.txt."""
