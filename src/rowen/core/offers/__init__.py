"""Job listings and companies: what is read from a document, and which belong together."""
