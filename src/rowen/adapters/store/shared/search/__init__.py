"""Search on arrays: what readers see, followers of texts and vectors, and which documents may come first."""
