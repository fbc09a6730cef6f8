"""The way through a list that comes in pages: its passes, the page that follows, stretches of time."""
