"""The `Folders` port on the local file system."""

from rowen.adapters.files.folders import LocalFolders

__all__ = ["LocalFolders"]
