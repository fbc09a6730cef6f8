"""Scanning and reading local folders.

Directories are listed, files are not opened: what a refresh needs is in the directory entries. Symbolic links
are followed as long as they stay inside the root, and no folder is entered twice.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from operator import itemgetter
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

    @property
    def absence(self) -> tuple[str, str | None]:
        return "no such file or folder", None

    def uri(self, root: str, path: str) -> str:
        return (_folder_of(root) / path).as_uri()

    def watch(self, root: str) -> AsyncGenerator[Sequence[Touched]]:
        return watch(root, self._ours)

    async def scan(self, root: str, options: ScanOptions) -> Scan:
        return await asyncio.to_thread(_Scanner(root, options).scan)

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
    """One pass over the folders below a root. A file costs its directory entry, its status and a tuple."""

    def __init__(self, root: str, options: ScanOptions) -> None:
        self._root = root
        self._options = options
        self._entries: list[Entry] = []
        self._passed_over: Counter[str] = Counter()
        self._unreadable: list[tuple[str, str]] = []
        self._entered: set[tuple[int, int]] = set()

    def scan(self) -> Scan:
        try:
            status = os.stat(self._root)  # noqa: PTH116
            if stat.S_ISREG(status.st_mode):
                self._found(Path(self._root).name, status)
            else:
                # The root must be readable; below it, one closed folder does not stop the rest.
                os.scandir(self._root).close()
                self._entered.add((status.st_dev, status.st_ino))
                self._below(self._root, "", IgnoreRules())
        except OSError as exc:
            raise Unfetchable(
                f"folder `{self._root}`: cannot be read: {exc.strerror}",
                hint="check that it is there and may be read; what was indexed before stays visible",
                path=self._root,
            ) from exc
        self._entries.sort(key=itemgetter(0))
        return Scan(entries=self._entries, passed_over=dict(self._passed_over), unreadable=self._unreadable)

    def _below(self, folder: str, prefix: str, rules: IgnoreRules) -> None:
        try:
            with os.scandir(folder) as listing:
                found = list(listing)
        except OSError as exc:
            self._unreadable.append((prefix.rstrip("/") or ".", exc.strerror or str(exc)))
            return
        if self._options.ignore_files and any(entry.name == ".gitignore" for entry in found):
            rules = rules.and_file(Path(folder, ".gitignore"), prefix)
        # In a fixed order, and links last: a folder is listed under its own name, not under a link's.
        for entry in sorted(self._plain_files(found, prefix, rules), key=_links_last):
            try:
                self._entry(entry, prefix + entry.name, rules)
            except (OSError, RuntimeError):
                # It went away while we looked, or its links lead in a circle.
                self._passed_over["unreadable"] += 1

    def _plain_files(
        self, found: list[os.DirEntry[str]], prefix: str, rules: IgnoreRules
    ) -> list[os.DirEntry[str]]:
        """Takes the files that no rule can be about; returns the entries that need a closer look."""
        if rules.layers:
            return found
        others, taken, new = [], self._entries.append, tuple.__new__
        plain = prefix.isascii()
        for entry in found:
            name = entry.name
            try:
                if name[0] == "." or not entry.is_file(follow_symlinks=False):
                    others.append(entry)
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                self._passed_over["unreadable"] += 1
                continue
            if plain and name.isascii():
                # As `_found` does, without its calls: this is done for every file of most folders.
                taken(new(Entry, (prefix + name, status.st_size, status.st_mtime_ns, "")))
            else:
                self._found(prefix + name, status)
        return others

    def _entry(self, entry: os.DirEntry[str], path: str, rules: IgnoreRules) -> None:
        if entry.name.startswith(".") and not self._options.hidden:
            self._passed_over["hidden"] += 1
        elif entry.name == ".git" or rules.ignore(path, folder=entry.is_dir(follow_symlinks=False)):
            self._passed_over["ignored"] += 1
        elif entry.is_symlink():
            self._linked(entry, path, rules)
        elif entry.is_dir(follow_symlinks=False):
            self._inside(entry.path, path, rules)
        elif entry.is_file(follow_symlinks=False):
            self._found(path, entry.stat(follow_symlinks=False))
        else:
            self._passed_over["special"] += 1

    def _inside(self, folder: str, path: str, rules: IgnoreRules) -> None:
        status = os.stat(folder)  # noqa: PTH116
        if (status.st_dev, status.st_ino) in self._entered:
            self._passed_over["already_listed"] += 1
            return
        self._entered.add((status.st_dev, status.st_ino))
        self._below(folder, f"{path}/", rules)

    def _linked(self, entry: os.DirEntry[str], path: str, rules: IgnoreRules) -> None:
        target = Path(entry.path).resolve()
        if not target.is_relative_to(Path(self._root).resolve()):
            self._passed_over["link_leaves_folder"] += 1
        elif not target.exists():
            self._passed_over["broken_link"] += 1
        elif target.is_dir():
            self._inside(entry.path, path, rules)
        elif target.is_file():
            self._found(path, target.stat())
        else:
            self._passed_over["special"] += 1

    def _found(self, path: str, status: os.stat_result) -> None:
        if path.isascii():
            self._entries.append(Entry(path, status.st_size, status.st_mtime_ns))
            return
        # A name need not be UTF-8; what is stored and shown is.
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        self._entries.append(Entry(shown, status.st_size, status.st_mtime_ns, path if shown != path else ""))


def _links_last(entry: os.DirEntry[str]) -> tuple[bool, str]:
    return entry.is_symlink(), entry.name
