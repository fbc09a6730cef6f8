"""Build the documentation as a site: `make docs`.

The generator reads one folder, and the documentation links to files beside it: the architecture, the
changelog, the examples, files to deploy. So the pages are copied to a folder of their own together with what
they link to, and links are rewritten to the copies. The pages in `docs/` can be read where they are, too.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
CONFIG = ROOT / "zensical.toml"
OUT = ROOT / "build" / "docs"

PROJECT = {
    f"{name}.md": f"project/{name.lower()}.md"
    for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")
}
"""Pages beside `docs/` that are part of the site, and where they stand in it."""
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^ {0,3}(```|~~~)")


def stage(folder: Path) -> None:
    """Copy the pages and what they link to into an empty folder, ready for the generator."""
    shutil.copytree(DOCS, folder / "docs")
    decisions = ", ".join(f'"adr/{page.name}"' for page in sorted((DOCS / "adr").glob("*.md")))
    config = CONFIG.read_text("utf-8").replace('"adr/*.md"', decisions)
    (folder / CONFIG.name).write_text(config, "utf-8")
    waiting = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in PROJECT)]
    # The site has a first page of its own.
    done = {README}
    while waiting:
        page = waiting.pop()
        if page in done:
            continue
        done.add(page)
        target = folder / "docs" / place_of(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            target.write_text(rewritten(page), "utf-8")
            waiting += [one for one in links(page) if not one.is_relative_to(DOCS)]
        else:
            shutil.copy(page, target)


def place_of(file: Path) -> str:
    """Where a file of the repository stands in the site, as a path from its root."""
    name = file.relative_to(ROOT).as_posix()
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    if file == README:
        return "index.md"
    return PROJECT.get(name, f"files/{name}")


def links(page: Path) -> Iterator[Path]:
    """The files of the repository that a page links to. A link to a folder means its README."""
    for line in _text_lines(page.read_text("utf-8")):
        for found in LINK.finditer(line):
            if target := _target(page, found[1]):
                yield target


def rewritten(page: Path) -> str:
    """The text of a page as it stands in the site."""
    here = posixpath.dirname(place_of(page))

    def moved(found: re.Match[str]) -> str:
        target = _target(page, found[1])
        return posixpath.relpath(place_of(target), here or ".") + (found[2] or "") if target else found[0]

    text = page.read_text("utf-8")
    lines = set(_text_lines(text))
    return "".join(
        LINK.sub(moved, line) if line in lines else line for line in text.splitlines(keepends=True)
    )


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Make the site of a folder that `stage` filled; it is in `site` there. A warning is an error."""
    words = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", CONFIG.name]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def _target(page: Path, link: str) -> Path | None:
    if "://" in link or link.startswith("mailto:"):
        return None
    found = Path(os.path.normpath(page.parent / link))
    return found / "README.md" if found.is_dir() else found


def _text_lines(text: str) -> Iterator[str]:
    """The lines outside code blocks, with their ends."""
    fenced = False
    for line in text.splitlines(keepends=True):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    stage(OUT)
    done = build(OUT)
    if done.returncode:
        print(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr), file=sys.stderr)
        return 1
    pages = len(list((OUT / "site").rglob("*.html")))
    print(f"{pages} pages: {(OUT / 'site' / 'index.html').relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
