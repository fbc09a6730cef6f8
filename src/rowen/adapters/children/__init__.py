"""Child processes that answer one request after the other: converters and embedders work in them."""
