"""Entries of git trees, as the API of a forge or git itself lists them.

A blob's id is the hash of its bytes, the best validator there is. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import quote

from rowen.records import dataclass

SUBMODULE = "submodule"
SYMLINK = "symlink"

_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SCHEMES = frozenset(("https", "http", "ssh", "git", "file"))
_SCP_LIKE = re.compile(r"([A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):(?!//)(.+)")
_FOLDER, _SYMLINK, _SUBMODULE = "040000", "120000", "160000"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a tree."""

    path: str
    """Relative to the tree, with forward slashes."""
    mode: str
    id: str
    size: int | None = None
    """Of a file, when the listing has it."""

    @property
    def is_folder(self) -> bool:
        return self.mode.zfill(6) == _FOLDER

    @property
    def why_not(self) -> str | None:
        """A reason to pass over something that is neither a folder nor a file with text of its own."""
        return {_SYMLINK: SYMLINK, _SUBMODULE: SUBMODULE}.get(self.mode.zfill(6))


@dataclass(frozen=True, slots=True)
class File:
    path: str
    id: str
    size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """What a run remembers of a tree: its files, and the folders it has to look into by themselves."""

    files: Sequence[File] = ()
    folders: Sequence[tuple[str, str]] = ()
    """Paths with their ids, when the tree was too large for one answer."""
    passed_over: dict[str, int] = field(default_factory=dict)

    def as_payload(self) -> dict[str, Any]:
        return {
            "files": [[file.path, file.id, file.size] for file in self.files],
            "folders": [list(folder) for folder in self.folders],
            "passed_over": self.passed_over,
        }

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> Folder:
        return cls(
            files=[File(path, id_, size) for path, id_, size in payload["files"]],
            folders=[(path, id_) for path, id_ in payload["folders"]],
            passed_over=dict(payload["passed_over"]),
        )


def gather(entries: Iterable[Entry], *, below: str = "", within: str = "", whole: bool = True) -> Folder:
    """The files of a tree that stands at `below`, as far as they belong to the path `within`.

    `whole` trees were listed with everything below them, so their folders say nothing new.
    """
    files: list[File] = []
    folders: list[tuple[str, str]] = []
    passed_over: dict[str, int] = {}
    for entry in entries:
        path = f"{below}/{entry.path}" if below else entry.path
        if entry.is_folder:
            if not whole and (is_within(path, within) or is_within(within, path)):
                folders.append((path, entry.id))
        elif not is_within(path, within):
            continue
        elif entry.why_not is not None:
            passed_over[entry.why_not] = passed_over.get(entry.why_not, 0) + 1
        else:
            files.append(File(path, entry.id, entry.size))
    return Folder(files=files, folders=folders, passed_over=passed_over)


def is_within(path: str, folder: str) -> bool:
    """Is this the path, or below it? Everything is within the empty path."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def blob_id(body: bytes, *, like: str) -> str:
    """The id git gives these bytes, by the hash that made the id `like`."""
    header = b"blob %d\0" % len(body)
    hashing = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return hashing(header + body).hexdigest()


def is_commit(name: str) -> bool:
    """A whole id: it says where it stands by itself."""
    return _ID.fullmatch(name) is not None


def parse_ls_tree(output: bytes) -> list[Entry]:
    """The answer of `git ls-tree -r -z`: mode, type, id and path. Names that are not UTF-8 stay readable."""
    entries = []
    for line in output.split(b"\0"):
        facts, tab, path = line.partition(b"\t")
        if tab:
            mode, _, id_ = facts.decode("ascii").split()[:3]
            entries.append(Entry(path.decode("utf-8", "backslashreplace"), mode, id_))
    return entries


def parse_ls_remote(output: str) -> dict[str, str]:
    """The answer of `git ls-remote`: ids by ref, the target of an annotated tag in place of the tag."""
    refs: dict[str, str] = {}
    for line in output.splitlines():
        id_, tab, ref = line.partition("\t")
        if tab:
            # The line for the target (`^{}`) comes after the line for the tag.
            refs[ref.removesuffix("^{}")] = id_
    return refs


def parse_address(location: str) -> str | None:
    """One spelling for the address of a repository: `git+https://host/path.git`; None when it is not one.

    Paths of this machine are for others to find. Passwords are refused; the user name of ssh is not a secret.
    """
    location = location.strip()
    if "://" not in location and (scp := _SCP_LIKE.fullmatch(location)):
        location = f"ssh://{scp[1] or ''}{scp[2]}/{scp[3].lstrip('/')}"
    scheme, separator, rest = location.removeprefix("git+").partition("://")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    if not separator or not slash or not path.strip("/") or scheme not in _SCHEMES:
        return None
    if any(c.isspace() or not c.isprintable() for c in rest):
        return None
    if scheme == "file":
        return None if host not in ("", "localhost") else f"git+file:///{path.rstrip('/')}"
    # A host that looks like an option has been a way to run programs.
    if not host or host.startswith("-") or user.startswith("-") or ":" in user or (at and scheme != "ssh"):
        return None
    return f"git+{scheme}://{user}{at}{host.lower()}/{path.rstrip('/')}"


def page_of(address: str, branch: str | None, path: str, *, link: str = "") -> str:
    """Where a person reads a file: by `link` (with `{branch}` and `{path}`), or as most forges have it."""
    name, quoted = branch or "HEAD", quote(path)
    if link:
        return link.replace("{branch}", quote(name)).replace("{path}", quoted)
    url = address.removeprefix("git+")
    if url.startswith("http"):
        return f"{url.removesuffix('.git')}/blob/{quote(name)}/{quoted}"
    return f"{url}/{quoted}"
