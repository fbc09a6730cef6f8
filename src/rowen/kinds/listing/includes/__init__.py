"""Files that include others of the same source: reStructuredText and AsciiDoc."""
