"""Versions of one page within a source: which folder of a reference names one, and which is the current one.

    docs/plugins.md    docs/next/plugins.md    versioned_docs/version-2.0/plugins.md    docs/1.x/plugins.md

Documents are versions of one page when their references differ in one folder alone, that folder is named like
a version, and their titles say the same. The current one is the page without a version, then `stable`,
`current` and `latest`, then the highest number; `next`, `main` and pre-releases are what is being developed.
A number alone may count chapters, months or pages of a list, so it is a version only beside one that cannot
be taken for something else. Where in doubt, a document is a page of its own. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from re import Match

from rowen.core import hashing
from rowen.core.search.copies import NO_DATASETS
from rowen.patterns import pattern
from rowen.records import NamedTuple

KINDS = NO_DATASETS
"""Kinds of sources whose references are paths; those of others are identifiers."""

_NUMBER = r"(?P<number>\d{1,4}(?:\.\d{1,4}){0,3})(?P<open>\.x)?"
_FOLDER = pattern(
    rf"(?<=/)(?:(?P<mark>v|ver|version|release|rel)[-_.]?)?{_NUMBER}"
    r"(?:[-_.]?(?P<stage>alpha|beta|dev|preview|pre|rc|snapshot|a|b)[-_.]?(?P<nth>\d{0,2}))?(?=/)"
    r"|(?<=/)(?P<name>stable|current|latest|next|main|master|head|trunk|edge|canary|nightly|unstable|unversioned"
    r"|dev|devel|develop|development|preview|snapshot)(?=/)"
)
_ASKED = pattern(
    rf"(?:(?<![^\W\d_])(?P<before>[^\W\d_]+)[\s-]+)?(?<![\w.,])(?P<mark>v)?{_NUMBER}(?!\w|[.,]\w)", 2
)
_WORD = pattern(r"[^\W\d_]+")

_RELEASED = {"latest": 1, "current": 2, "stable": 3}
_STAGES = {"dev": 0, "snapshot": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "pre": 3, "preview": 3, "rc": 4}
_RELEASE = 7
_DESCRIBED = (
    "docs doc documentation manual manuals guide guides handbook help reference versioned readthedocs"
)
_MANUALS = frozenset(_DESCRIBED.split())
"""Folders, and parts of a host's name, below which `v2` is a version of what is described."""
_INTERFACES = "api apis rest rpc grpc graphql openapi swagger schema schemas proto endpoint endpoints"
_RELEASES = (
    "release releases relnotes changelog changelogs changes news whatsnew history announcement announcements "
    "blog post posts download downloads migration migrations upgrade upgrades upgrading"
)
_COUNTED = (
    "chapter chapters ch part parts lesson lessons lecture lectures section sections unit units "
    "module modules exercise exercises week weeks day days step steps "
    "volume volumes page pages book books issue issues "
    "course courses session sessions workshop workshops seminar seminars problem problems question questions "
    "challenge challenges level levels sprint sprints season seasons episode episodes appendix appendices"
)
_TASKS = frozenset((
    "assignment", "assignments", "exercise", "exercises", "homework", "lab", "lecture", "lesson", "puzzle",
    "quiz", "solution", "solutions",
))  # fmt: skip
"""Names of files of which each part of a course has one: `1.2/exercise.md`."""
_OTHERWISE = frozenset(f"{_INTERFACES} {_RELEASES} {_COUNTED}".split())
"""Folders below which a number is an interface that is still served, what came with a release, or counts."""
_PROTOCOLS = frozenset(("tls", "ssl", "http", "oauth", "saml", "usb", "utf", "ipv", "openapi", "css", "sha"))
"""`oauth 2.0` names no version of a page."""
_ANY_NAME = frozenset(("version", "release", "v"))

_PIECES, _PIECE_BITS = 4, 12
_MOST = (1 << _PIECE_BITS) - 1
_STAGE_BITS, _NTH_BITS, _SIGN_BITS = 3, 5, 2
_NUMBER_BITS = _PIECES * _PIECE_BITS + _STAGE_BITS + _NTH_BITS


class _Standing(IntEnum):
    """More is more current."""

    DEVELOPED = 0
    NUMBERED = 1
    NAMED = 2
    UNVERSIONED = 3


class Sign(IntEnum):
    """What an edition tells about whether there are versions at all; its lowest bits."""

    NONE = 0
    BARE = 1
    """A number alone: `16`."""
    NUMBER = 2
    """A version for certain: `3.8`."""
    NAME = 3
    """`latest`: others beside it are versions."""


SIGNS = (1 << _SIGN_BITS) - 1
UNVERSIONED = _Standing.UNVERSIONED << (_NUMBER_BITS + _SIGN_BITS)
"""The edition of a page whose reference names no version."""
_ASKED_BITS = _NUMBER_BITS + _SIGN_BITS + 2


class Named(NamedTuple):
    page: str
    """The reference without the version."""
    edition: int
    """More is more current."""


class Asked(NamedTuple):
    """Editions that a question asks for."""

    low: int
    high: int
    worth: int
    """What it adds to an edition: more than any edition is worth itself."""
    of: str = ""
    """Of sources with this word in their name or address; empty for all."""


class PageVersion(NamedTuple):
    """What a search knows of a visible document that has other versions."""

    page: int
    """The key of its page, the same for all versions of it."""
    edition: int
    """More is preferred: what the question asks for, then what is more current."""
    is_old: bool
    """A newer one is visible, and the question does not ask for this one."""


ALONE = PageVersion(0, 0, False)


def read(reference: str) -> Named:
    """Which page a reference is of, and which edition of it."""
    # A file is never a version, whatever it is called: `changes/2.0.md`.
    path, mark, query = f"/{reference.lower()}".partition("?")
    found = _telling(path)
    if found is None:
        return Named(_in_docs(path) + mark + query, UNVERSIONED)
    before = path[: found.start()]
    if before.endswith("versioned_docs/"):
        # Docusaurus keeps the current pages of `community_versioned_docs` in `community`.
        before = before.removesuffix("versioned_docs/").removesuffix("_")
        before += "docs/" if before.endswith("/") else "/"
    page = _in_docs(before + path[found.end() + 1 :])
    return Named(page + mark + query, _edition(found, before))


def page_key(source_id: int, page: str, title: Collection[str]) -> int:
    """The same for documents of a source that are versions of one page; `title`: the stems of its title."""
    said = " ".join(sorted(stem for stem in title if stem != "v" and not _has_digit(stem)))
    return hashing.short_of_text(f"{source_id}\n{page}\n{said}")


def asked_for(query: str) -> tuple[Asked, ...]:
    """The versions that a question names: `2.0`, `v2`, `version 2`, `postgres 14`."""
    if not _has_digit(query):
        return ()
    return tuple(one for found in _ASKED.finditer(query.lower()) for one in _asked(found))


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _in_docs(path: str) -> str:
    # A repository may have `docs/` beside `website/versioned_docs/`.
    return path.replace("/website/docs/", "/docs/", 1)


def _telling(path: str) -> Match[str] | None:
    """The folder that names a version: the first one, and `next` or `main` only where there is no other."""
    developed = None
    if path.rpartition("/")[2].partition(".")[0] in _TASKS:
        return None
    for found in _FOLDER.finditer(path):
        if found["name"] is None or found["name"] in _RELEASED:
            if _may_be_version(found, path[: found.start()]):
                return found
        else:
            developed = developed or found
    return developed


def _may_be_version(found: Match[str], before: str) -> bool:
    number = found["number"]
    if number is None:
        return True
    pieces = number.split(".")
    padded = any(len(piece) > 1 and piece[0] == "0" for piece in pieces)
    is_year = len(pieces[0]) == 4
    if pieces[0] != "0" and pieces[0][0] == "0":
        return False
    # `2023`, `2023.05`, `2023.05.12`: a date; `2023.1` and `24.04` are versions.
    if is_year and (len(pieces) != 2 or padded):
        return False
    return _OTHERWISE.isdisjoint(_WORD.findall(before))


def _edition(found: Match[str], before: str) -> int:
    name, number = found["name"], found["number"]
    if number is None:
        if name in _RELEASED:
            return _packed(_Standing.NAMED, _RELEASED[name], Sign.NAME)
        return _packed(_Standing.DEVELOPED, 0, Sign.NONE)
    stage = found["stage"]
    standing = _Standing.DEVELOPED if stage else _Standing.NUMBERED
    pieces = [int(piece) for piece in number.split(".")]
    is_open = bool(found["open"]) or len(pieces) == 1
    weight = _weight(pieces, _MOST if is_open else 0, _STAGES.get(stage, _RELEASE), int(found["nth"] or 0))
    certain = "." in found[0] or (found["mark"] and not _MANUALS.isdisjoint(_WORD.findall(before)))
    return _packed(standing, weight, Sign.NUMBER if certain else Sign.BARE)


def _asked(found: Match[str]) -> Iterator[Asked]:
    before = found["before"] or ""
    pieces = [int(piece) for piece in found["number"].split(".")]
    alone = len(pieces) == 1 and not found["mark"] and not found["open"] and before not in _ANY_NAME
    if before in _PROTOCOLS or (alone and (len(before) < 3 or pieces[0] > 999)):
        return
    of = before if alone else ""
    for standing in (_Standing.DEVELOPED, _Standing.NUMBERED):
        yield _between(standing, _weight(pieces, 0, 0, 0), _weight(pieces, _MOST, _RELEASE, 31), 2, of)
        for length in range(1, len(pieces)):
            # `2.x`, and `3` beside `3.8`, are where `2.0` and `3.7` are described as well.
            inside = pieces[:length]
            yield _between(
                standing, _weight(inside, _MOST, 0, 0), _weight(inside, _MOST, _RELEASE, 31), 1, of
            )


def _between(standing: _Standing, low: int, high: int, worth: int, of: str) -> Asked:
    return Asked(
        _packed(standing, low, Sign.NONE), _packed(standing, high, Sign.NAME), worth << _ASKED_BITS, of
    )


def _weight(pieces: Sequence[int], rest: int, stage: int, nth: int) -> int:
    """One number that orders versions as their pieces do; pieces that are not written count as `rest`."""
    number = 0
    for at in range(_PIECES):
        number = number << _PIECE_BITS | (min(pieces[at], _MOST) if at < len(pieces) else rest)
    return (number << _STAGE_BITS | stage) << _NTH_BITS | min(nth, 31)


def _packed(standing: _Standing, weight: int, sign: Sign) -> int:
    return (standing << _NUMBER_BITS | weight) << _SIGN_BITS | sign
