"""Which pages of a site to ask for next, in which order, and what the answers mean for the whole."""
