"""The same dataset on several portals: what tells it, and which documents of a search are copies of a hit.

A dataset has keys, small numbers made of what a copy keeps: identifiers, its page, its files, its text. Two
datasets of different sources are the same when the keys they share weigh enough; one weak sign, such as a
page, a file or a title, never does. Keys that tell nothing (a portal's home, terms of use, a key that two
datasets of one source have) do not count. ADR 39 has the rule and its reasons. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import combinations

from rowen.core import hashing
from rowen.core.section import prose_of
from rowen.patterns import pattern
from rowen.records import NamedTuple

NO_DATASETS = frozenset(("web", "files", "git", "github", "llms"))
"""Kinds of sources whose documents are pages and files, and have no keys."""
MOST_HOLDERS = 24
"""Versions with a key beyond which it tells nothing."""
FILE_KEYS = 4
"""Files are compared by those with the lowest keys: two copies choose the same ones."""
MIN_TEXT_CHARS = 100
"""Of a description that is long enough to tell a dataset."""
_TEXT_CHARS = 4_000
_LOCAL_CHARS = 6
_SIGN = 7
"""The bits of a key that say which sign it is of."""
_NUMBER = ~_SIGN

_WORD = pattern(r"\w+")
_UUID_CHARS = 36
_UUID = pattern(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_DOI = pattern(r"(?:doi:|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)")
_GENERIC_HOSTS = ("creativecommons.org", "opendatacommons.org", "opendefinition.org", "opensource.org")
# It begins with a class of characters, so that the scan runs over all others; so does what it is searched in.
# Then the first letters of all its words are one look.
_GENERIC = pattern(
    r"[/_.-](?=[acdfhiklnptw])(?:terms|conditions|licen[cs]es?|licen[cz]ia|lizenz|nutzungsbedingungen|impressum|imprint|privacy"
    r"|disclaimer|copyright|contact|kontakt|about|help|faq|home|index|welcome)(?:[/_.?-]|$)"
)
_LISTS = frozenset(("data", "dataset", "datasets", "catalog", "catalogue", "opendata", "open-data", "search"))


class Sign(IntEnum):
    IDENTIFIER = 0
    """One that is meant for the whole world: a DOI, a UUID, a URN, an address that is not its page."""
    SIGNED = 1
    """Title, description and who publishes it."""
    TEXT = 2
    PAGE = 3
    FILE = 4
    LOCAL = 5
    """An identifier of one catalogue."""


class Signs(NamedTuple):
    """What a dataset says that copies of it say too."""

    identifiers: Sequence[str] = ()
    pages: Sequence[str] = ()
    files: Sequence[str] = ()
    publisher: str = ""


class Dataset(NamedTuple):
    """A visible document that has keys."""

    document_id: int
    source_id: int
    source: str
    version: str
    url: str
    title: str
    keys: frozenset[int]
    """Those that are compared."""
    files: int
    """How many keys of files it has, compared or not."""


class Copy(NamedTuple):
    dataset: Dataset
    by: str
    """`identifier`, `text`, `page` or `files`: what tells that it is the same."""


def keys_of(signs: Signs, title: str, text: str) -> tuple[int, ...]:
    """The keys of a dataset, in order."""
    pages = {page for one in signs.pages if (page := _address(one))}
    keys = {_key(Sign.PAGE, page) for page in pages}
    for one in dict.fromkeys(signs.identifiers):
        sign, spelt = _identifier(one, pages)
        if spelt:
            keys.add(_key(sign, spelt))
    keys.update(sorted({_key(Sign.FILE, file) for one in signs.files if (file := _address(one))})[:FILE_KEYS])
    prose = " ".join(prose_of(text)[:_TEXT_CHARS].casefold().split())
    if len(prose) - len(title) >= MIN_TEXT_CHARS:
        said = _key(Sign.TEXT, prose)
        keys.add(said)
        if publisher := _publisher(signs.publisher):
            keys.add((said ^ publisher) & _NUMBER | Sign.SIGNED)
    return tuple(sorted(keys))


def copies(shown: Sequence[int], datasets: Iterable[Dataset]) -> dict[int, list[Copy]]:
    """For each document that is shown, the others that are the same dataset, by source and address.

    A group has one dataset of a source at most: a portal that lists two means two.
    """
    known = {one.document_id: one for one in datasets}
    links = _links(known.values())
    found: dict[int, list[Copy]] = {}
    for first in shown:
        if first not in links:
            continue
        group = [Copy(known[first], "")]
        sources = {known[first].source_id}
        for reached in group:
            for other, by in sorted(links[reached.dataset.document_id].items()):
                if known[other].source_id not in sources:
                    sources.add(known[other].source_id)
                    group.append(Copy(known[other], by))
        found[first] = sorted(group[1:], key=lambda one: (one.dataset.source, one.dataset.url))
    return found


def same_by(one: Dataset, other: Dataset) -> str:
    """Which sign tells that two datasets are the same; empty when nothing does."""
    signs = [sign_of(key) for key in one.keys & other.keys]
    if Sign.IDENTIFIER in signs:
        return "identifier"
    most_files = signs.count(Sign.FILE) * 2 > min(one.files, other.files)
    if Sign.SIGNED in signs or (
        Sign.TEXT in signs and (most_files or Sign.PAGE in signs or Sign.LOCAL in signs)
    ):
        return "text"
    if _words(one.title) != _words(other.title):
        return ""
    return "page" if Sign.PAGE in signs else "files" if most_files else ""


def _links(datasets: Iterable[Dataset]) -> Mapping[int, dict[int, str]]:
    holders: defaultdict[int, list[Dataset]] = defaultdict(list)
    for one in datasets:
        for key in one.keys:
            holders[key].append(one)
    # What two datasets of one source have in common tells neither of them.
    vague = {key for key, some in holders.items() if len({one.source_id for one in some}) < len(some)}
    telling = {one.document_id: _without(one, vague) for some in holders.values() for one in some}
    pairs = {
        (one.document_id, other.document_id)
        for key, some in holders.items()
        if key not in vague
        for one, other in combinations(some, 2)
    }
    links: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for first, second in pairs:
        if by := same_by(telling[first], telling[second]):
            links[first][second] = links[second][first] = by
    return links


def _without(one: Dataset, vague: set[int]) -> Dataset:
    files = sum(sign_of(key) is Sign.FILE for key in one.keys & vague)
    return one._replace(keys=one.keys - vague, files=one.files - files)


def _identifier(text: str, pages: set[str]) -> tuple[Sign, str]:
    plain = text.strip().strip("{}").lower()
    if "10." in plain and (doi := _DOI.fullmatch(plain)):
        return Sign.IDENTIFIER, f"doi:{doi[1]}"
    bare = plain.removeprefix("urn:uuid:")
    if plain.startswith("urn:") or (len(bare) == _UUID_CHARS and _UUID.fullmatch(bare)):
        return Sign.IDENTIFIER, bare
    if plain.startswith(("http://", "https://")):
        address = _address(text)
        return Sign.IDENTIFIER, "" if address in pages else address
    long = len(plain) >= _LOCAL_CHARS and any(map(str.isdigit, plain))
    return Sign.LOCAL, plain if long else ""


def _address(url: str) -> str:
    """In one spelling; empty for what many datasets have."""
    plain = url.strip().partition("#")[0]
    scheme, _, rest = plain.partition("://")
    if scheme.lower() not in ("http", "https"):
        return ""
    host, _, path = rest.partition("/")
    host, path = host.lower().removeprefix("www."), path.rstrip("/?")
    spelt = path.lower()
    if not path or spelt in _LISTS or host.endswith(_GENERIC_HOSTS) or _GENERIC.search(f"/{spelt}"):
        return ""
    return f"{host}/{path}"


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


@lru_cache(maxsize=256)
def _publisher(name: str) -> int:
    """Of few there are many datasets."""
    words = _words(name)
    return _key(Sign.SIGNED, words) if words else 0


def _key(sign: Sign, text: str) -> int:
    return hashing.short_of_text(text) & _NUMBER | sign


def sign_of(key: int) -> Sign:
    return Sign(key & _SIGN)
