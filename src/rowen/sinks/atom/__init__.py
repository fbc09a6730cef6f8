"""The last changes as an Atom feed."""
