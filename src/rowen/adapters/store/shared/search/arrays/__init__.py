"""Arrays: numpy, and lists with as much of its interface as one search of a small store needs."""
