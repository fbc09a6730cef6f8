"""Which family of portals answers at an address, found out by asking, in few requests."""
