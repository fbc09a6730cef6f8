"""Asking a server politely, for every kind: pace, retries, redirects, credentials, robots.txt, sitemaps."""
