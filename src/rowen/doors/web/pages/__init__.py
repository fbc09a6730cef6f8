"""One file a page: what it asks, and the value that the template and the JSON both show."""
