"""Paths inside a source. Pure."""

from __future__ import annotations


def below(folders: list[str], path: str) -> str | None:
    """None for a path that leads out, or to nothing."""
    parts = list(folders)
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None
