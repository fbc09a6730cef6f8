"""Child processes that answer one request after the other: converters, splitters, embedders work in them."""
