"""APIs that answer in pages: one engine, portals and job boards as presets of it."""
