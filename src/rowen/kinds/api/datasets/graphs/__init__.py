"""The ways a graph is written, each read into nodes: local names, lists of values, absolute addresses."""
