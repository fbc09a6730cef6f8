"""The rules of .gitignore files, nested ones included: the deepest file that has an opinion decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class _Layer:
    prefix: str
    """The folder the rules stand in, with a slash; empty for the root."""
    for_files: Any
    for_folders: Any
    """Without the rules that end in `/**`: those are about what is inside a folder, not about the folder."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    layers: tuple[_Layer, ...] = ()
    """The deepest last."""

    def and_file(self, file: Path, prefix: str) -> IgnoreRules:
        try:
            if not file.is_file():
                return self
            text = file.read_text("utf-8", errors="replace")
        except OSError:
            return self
        lines = [line for line in text.splitlines() if _compiles(line)]
        from pathspec import GitIgnoreSpec  # most folders have no such file

        inside = [line for line in lines if not line.rstrip().endswith("/**")]
        layer = _Layer(prefix, GitIgnoreSpec.from_lines(lines), GitIgnoreSpec.from_lines(inside))
        return IgnoreRules((*self.layers, layer))

    def ignore(self, path: str, *, folder: bool) -> bool:
        for layer in reversed(self.layers):
            below = path[len(layer.prefix) :]
            rules = layer.for_folders if folder else layer.for_files
            opinion = rules.check_file(below + ("/" if folder else "")).include
            if opinion is not None:
                return bool(opinion)
        return False


def _compiles(line: str) -> bool:
    """A rule that git cannot read matches nothing there, and nothing here."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    except Exception as exc:
        # The patterns become regular expressions, and their errors come through as they are.
        if type(exc).__module__ in ("re", "re._constants", "sre_constants"):
            return False
        raise
    return True
