"""The `Exports` port on the local file system."""

from rowen.adapters.exports.local import LocalExports

__all__ = ["LocalExports"]
