"""reStructuredText, AsciiDoc, MDX and notebooks."""
