"""The topics of `ports/store/learning`."""
