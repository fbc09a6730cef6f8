"""Where a document's file is, what is in it, and how it gets there."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

from rowen.plugin import Document

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_OURS = re.compile(r".*-[0-9a-f]{12}\.md")
_MAX_NAME_CHARS = 80


def folder_name(label: str) -> str:
    """The name of a source's folder. Labels are letters, digits and `. - _ @ +`: safe in a path."""
    return label.lstrip(".") or "_"


def file_name(reference: str) -> str:
    """A readable name that no other reference of the source has."""
    words = _UNSAFE.sub("-", reference.partition("://")[2] or reference).strip("-")[-_MAX_NAME_CHARS:]
    return f"{words or 'document'}-{hashlib.sha256(reference.encode()).hexdigest()[:12]}.md"


def content(document: Document) -> str:
    # A JSON string is a YAML string too, with every character a title may hold.
    facts = {"title": document.title, "url": document.url, "source": document.source}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items()]
    return "\n".join(("---", *lines, "---", "", document.text or ""))


def write(path: Path, text: str) -> None:
    """The whole file or the old one, also when the machine stops half-way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def remove_all(folder: Path) -> None:
    """Every file of ours in the folder of a source; the folder too, if nothing else is in it."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if _OURS.fullmatch(path.name):
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
