"""Packages with plug-ins, as `pip` installs them: metadata and a module in a folder on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_package(
    folder: Path,
    name: str,
    entry_points: dict[str, dict[str, str]],
    *,
    modules: dict[str, str] | None = None,
    version: str = "1.0",
) -> None:
    """`entry_points` by group and name; `modules` are texts by module name."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in entry_points.items():
        lines += [f"[{group}]", *(f"{key} = {target}" for key, target in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module, text in (modules or {}).items():
        (folder / f"{module}.py").write_text(text)


@contextmanager
def on_path(folder: Path, *more: Path) -> Iterator[None]:
    """The packages of a folder are found; afterwards their modules are forgotten."""
    before, modules = list(sys.path), set(sys.modules)
    sys.path[:0] = [str(folder), *map(str, more)]
    try:
        yield
    finally:
        sys.path[:] = before
        for name in set(sys.modules) - modules:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if any(origin.startswith(str(one)) for one in (folder, *more)):
                del sys.modules[name]
