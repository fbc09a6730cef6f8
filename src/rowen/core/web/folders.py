"""References as a tree of folders: the addresses of a site, the paths of a repository."""

from __future__ import annotations

from collections.abc import Iterable

from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """One entry right under a folder: a folder with what lies in it, a document, or both."""

    name: str
    """Its last part; empty for the document that is the folder's own address."""
    path: str
    """Whole: give it as `under` to look into it. Ends with `/` unless only a document has it."""
    documents: int
    """Of it and everything in it."""
    reference: str | None
    """The document at exactly this address, if there is one."""

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/") and bool(self.name)


def folders_under(references: Iterable[str], under: str = "") -> list[Folder]:
    """What lies right under a folder, folders first, in the order of names.

    Without a folder, what all references have in common is passed over, so that a site begins at its root.
    """
    every = list(references)
    start = under or _common(every)
    counts: dict[str, int] = {}
    exact: dict[str, str] = {}
    for reference in every:
        if not reference.startswith(start):
            continue
        name, slash, _ = reference[len(start) :].partition("/")
        counts[name + slash] = counts.get(name + slash, 0) + 1
        if reference == start + name + slash:
            exact[name + slash] = reference
    # `guide` and `guide/` are a page and its folder: one entry.
    for name in [name for name in counts if f"{name}/" in counts and name]:
        counts[f"{name}/"] += counts.pop(name)
        exact.setdefault(f"{name}/", exact.pop(name))
    found = [
        Folder(name=name.removesuffix("/"), path=start + name, documents=number, reference=exact.get(name))
        for name, number in counts.items()
    ]
    return sorted(found, key=lambda one: (not one.is_folder, one.name))


def _common(references: list[str]) -> str:
    """The longest folder that holds all of them."""
    if not references:
        return ""
    first, last = min(references), max(references)
    length = next((n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None)
    shared = first[:length] if length is not None else min(first, last, key=len)
    return shared[: shared.rfind("/") + 1]
