"""JSON, YAML, TOML, INI, XML and OpenAPI."""
