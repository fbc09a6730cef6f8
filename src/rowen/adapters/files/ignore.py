"""The rules of .gitignore files, nested ones included: the deepest file that has an opinion decides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    layers: tuple[tuple[str, Any], ...]
    """(folder prefix, its rules), the deepest last."""

    @classmethod
    def none(cls) -> IgnoreRules:
        return cls(())

    def and_file(self, file: Path, prefix: str) -> IgnoreRules:
        from pathspec import GitIgnoreSpec  # most folders have no such file

        try:
            lines = file.read_text("utf-8", errors="replace").splitlines()
        except OSError:
            return self
        return IgnoreRules((*self.layers, (prefix, GitIgnoreSpec.from_lines(lines))))

    def ignore(self, path: str, *, folder: bool) -> bool:
        for prefix, rules in reversed(self.layers):
            opinion = rules.check_file(path[len(prefix) :] + ("/" if folder else "")).include
            if opinion is not None:
                return bool(opinion)
        return False
