"""What a reference says of its document: which version of a page it is; a page, a source or a test."""
