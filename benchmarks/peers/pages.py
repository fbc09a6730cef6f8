"""The pages that everybody harvests, in a folder of their own, and what happens to them between two runs."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from benchmarks.judged import manuals

from scripts import site

LINK = re.compile(r'href="([^"#?:]+\.html)')
BORN = 1_700_000_000
"""When every file was written, by its time; a run's changes are days later."""
DAY = 86_400


def found(cache: Path) -> tuple[Path, str]:
    """The folder of the pages and what it is: the manual of Python where it can be had, else our own."""
    try:
        return manuals.manual("python", cache), "the manual of Python 3.11 (Debian's `python3.11-doc`)"
    except manuals.Unavailable as reason:
        print(f"no manual of Python: {reason}; Rowen's own documentation instead")
    return built(), "the documentation of Rowen"


def built() -> Path:
    """Rowen's own documentation as a site."""
    shutil.rmtree(site.OUT, ignore_errors=True)
    site.OUT.mkdir(parents=True)
    site.stage(site.OUT)
    done = site.build(site.OUT)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return site.OUT / "site"


class Pages:
    def __init__(self, source: Path, folder: Path, most: int | None) -> None:
        """Copies the pages that links lead to from the first one, at most so many; other links end here."""
        self.folder = folder
        chosen = reachable(source, most)
        for name in chosen:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_linked((source / name).read_text("utf-8", "replace"), name, chosen), "utf-8")
        self.names = sorted(chosen)
        self._edited = max(self.names, key=lambda name: (folder / name).read_text().count("<p>"))
        self._before = (folder / self._edited).read_bytes()
        self.bytes = sum((folder / name).stat().st_size for name in self.names)

    def first(self) -> None:
        """As they were written."""
        (self.folder / self._edited).write_bytes(self._before)
        self._dated(BORN)

    def edit(self, number: int) -> None:
        """A sentence at the beginning of a paragraph of one page."""
        parts = self._before.decode("utf-8").split("<p>")
        middle = len(parts) // 2
        parts[middle] = f"This sentence was written on day {number}. {parts[middle]}"
        file = self.folder / self._edited
        file.write_text("<p>".join(parts), "utf-8")
        os.utime(file, (BORN + number * DAY,) * 2)

    def redeploy(self, number: int) -> None:
        """The same bytes with other times."""
        self._dated(BORN + number * DAY)

    def _dated(self, time: int) -> None:
        for name in self.names:
            os.utime(self.folder / name, (time, time))


def reachable(source: Path, most: int | None = None) -> set[str]:
    """Pages by their links, the nearest to the first page first."""
    chosen, waiting = {"index.html": None}, ["index.html"]
    for name in waiting:
        for link in LINK.findall((source / name).read_text("utf-8", "replace")):
            if most is not None and len(chosen) >= most:
                return set(chosen)
            target = os.path.normpath(Path(name).parent / link)
            if target not in chosen and not target.startswith("..") and (source / target).is_file():
                chosen[target] = None
                waiting.append(target)
    return set(chosen)


def _linked(text: str, name: str, chosen: set[str]) -> str:
    """A page whose links to pages that are not served lead to itself."""

    def moved(link: re.Match[str]) -> str:
        target = os.path.normpath(Path(name).parent / link[1])
        return link[0] if target in chosen else 'href="#'

    return LINK.sub(moved, text)
