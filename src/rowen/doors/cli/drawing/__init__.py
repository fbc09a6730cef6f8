"""What a terminal shows: words with styles, tables, a live line, Markdown. Loaded when something is drawn."""
