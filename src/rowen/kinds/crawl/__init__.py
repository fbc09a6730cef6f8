"""Sites crawled by their links."""
