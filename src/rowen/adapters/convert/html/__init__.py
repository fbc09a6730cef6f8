"""HTML pages: their main content as Markdown."""
