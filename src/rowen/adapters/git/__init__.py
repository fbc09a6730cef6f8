"""Repositories by the `git` command."""

from rowen.adapters.git.repositories import GitRepositories

__all__ = ["GitRepositories"]
