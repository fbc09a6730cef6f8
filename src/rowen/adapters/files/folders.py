"""Scanning and reading local folders.

Directories are listed, files are not opened: what a refresh needs is in the directory entries. Symbolic links
are followed as long as they stay inside the root, and no folder is entered twice.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path

from rowen.adapters.files.ignore import IgnoreRules
from rowen.adapters.files.rooted import RootedFolders
from rowen.adapters.files.watching import watch
from rowen.errors import BodyTooLarge, Unfetchable, Vanished
from rowen.ports.folders import Entry, Folders, Scan, ScanOptions, Touched


class LocalFolders:
    def __init__(self, ours: Sequence[str] = ()) -> None:
        """`ours` begin the paths of files that Rowen itself writes: watching them would never end."""
        self._ours = tuple(ours)

    def within(self, roots: Sequence[str]) -> Folders:
        return RootedFolders(self, roots)

    def locate(self, location: str) -> str | None:
        if location.startswith("file://"):
            from urllib.parse import unquote, urlsplit

            location = unquote(urlsplit(location).path)
        elif "://" in location:
            return None
        path = Path(location).expanduser()
        try:
            # Not resolved: a link that is turned to another folder is followed there.
            return os.path.abspath(path) if location and path.exists() else None  # noqa: PTH100
        except OSError:
            return None

    def uri(self, root: str, path: str) -> str:
        return (_folder_of(root) / path).as_uri()

    def watch(self, root: str) -> AsyncGenerator[Sequence[Touched]]:
        return watch(root, self._ours)

    async def scan(self, root: str, options: ScanOptions) -> Scan:
        return await asyncio.to_thread(_Scanner(Path(root), options).scan)

    async def read(self, root: str, path: str, *, max_bytes: int) -> bytes:
        return await asyncio.to_thread(_read, _folder_of(root), path, max_bytes)


def _folder_of(root: str) -> Path:
    path = Path(root)
    return path.parent if path.is_file() else path


def _read(folder: Path, path: str, max_bytes: int) -> bytes:
    file = folder / path
    try:
        # A link may have been turned elsewhere since the folder was listed.
        if not file.resolve().is_relative_to(folder.resolve()):
            raise Unfetchable(f"file `{path}`: a link that leaves the folder", path=path)
        # Without blocking: what was a file may be a pipe by now, and opening a pipe waits for its writer.
        with os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise Unfetchable(f"file `{path}`: not a regular file", path=path)
            body = opened.read(max_bytes + 1)
    except FileNotFoundError as exc:
        raise Vanished(f"file `{path}`: gone since the folder was listed", path=path) from exc
    except (OSError, RuntimeError) as exc:
        cause = exc.strerror if isinstance(exc, OSError) else exc
        raise Unfetchable(f"file `{path}`: cannot be read: {cause}", path=path) from exc
    if len(body) > max_bytes:
        raise BodyTooLarge(f"file `{path}`: larger than {max_bytes} bytes", path=path)
    return body


class _Scanner:
    def __init__(self, root: Path, options: ScanOptions) -> None:
        self._root = root
        self._options = options
        self._passed_over: Counter[str] = Counter()
        self._unreadable: list[tuple[str, str]] = []
        self._entered: set[tuple[int, int]] = set()

    def scan(self) -> Scan:
        try:
            status = self._root.stat()
            if self._root.is_file():
                entries = [_found(self._root.name, status)]
            else:
                # The root must be readable; below it, one closed folder does not stop the rest.
                os.scandir(self._root).close()
                self._entered.add((status.st_dev, status.st_ino))
                entries = list(self._below(self._root, "", IgnoreRules()))
        except OSError as exc:
            raise Unfetchable(
                f"folder `{self._root}`: cannot be read: {exc.strerror}",
                hint="check that it is there and may be read; what was indexed before stays visible",
                path=str(self._root),
            ) from exc
        entries.sort(key=lambda entry: entry.path)
        return Scan(entries=entries, passed_over=dict(self._passed_over), unreadable=self._unreadable)

    def _below(self, folder: Path, prefix: str, rules: IgnoreRules) -> Iterator[Entry]:
        try:
            with os.scandir(folder) as listing:
                found = list(listing)
        except OSError as exc:
            self._unreadable.append((prefix.rstrip("/") or ".", exc.strerror or str(exc)))
            return
        if self._options.ignore_files and any(entry.name == ".gitignore" for entry in found):
            rules = rules.and_file(folder / ".gitignore", prefix)
        # In a fixed order, and links last: a folder is listed under its own name, not under a link's.
        found.sort(key=lambda entry: (entry.is_symlink(), entry.name))
        for entry in found:
            try:
                yield from self._entry(entry, prefix + entry.name, folder, rules)
            except (OSError, RuntimeError):
                # It went away while we looked, or its links lead in a circle.
                self._passed_over["unreadable"] += 1

    def _entry(self, entry: os.DirEntry[str], path: str, folder: Path, rules: IgnoreRules) -> Iterator[Entry]:
        if entry.name.startswith(".") and not self._options.hidden:
            self._passed_over["hidden"] += 1
        elif entry.name == ".git" or rules.ignore(path, folder=entry.is_dir(follow_symlinks=False)):
            self._passed_over["ignored"] += 1
        elif entry.is_symlink():
            yield from self._linked(entry, path, rules)
        elif entry.is_dir(follow_symlinks=False):
            yield from self._inside(Path(entry.path), path, rules)
        elif entry.is_file(follow_symlinks=False):
            yield _found(path, entry.stat(follow_symlinks=False))
        else:
            self._passed_over["special"] += 1

    def _inside(self, folder: Path, path: str, rules: IgnoreRules) -> Iterator[Entry]:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in self._entered:
            self._passed_over["already_listed"] += 1
            return
        self._entered.add((status.st_dev, status.st_ino))
        yield from self._below(folder, f"{path}/", rules)

    def _linked(self, entry: os.DirEntry[str], path: str, rules: IgnoreRules) -> Iterator[Entry]:
        target = Path(entry.path).resolve()
        if not target.is_relative_to(self._root.resolve()):
            self._passed_over["link_leaves_folder"] += 1
        elif not target.exists():
            self._passed_over["broken_link"] += 1
        elif target.is_dir():
            yield from self._inside(Path(entry.path), path, rules)
        elif target.is_file():
            yield _found(path, target.stat())
        else:
            self._passed_over["special"] += 1


def _found(path: str, status: os.stat_result) -> Entry:
    # A name need not be UTF-8; what is stored and shown is.
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return Entry(shown, status.st_size, status.st_mtime_ns, path if shown != path else "")
