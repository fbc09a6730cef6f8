"""Texts as the stems that stand in the index of words, and how often each stands in a text.

Most words of a text were met before, so a word is stemmed once and remembered. Beside the index go the stems'
hashes with their counts (`counts.py`); this collects them while texts are added.

Long words of a German text stand there once more as they are, and once backwards, behind marks that no other
word has: by how they begin and end, compounds are found by their parts, and only those of German texts.
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from rowen.adapters.store.shared.search.words import words
from rowen.core.search.morphology import (
    SHORTEST_COMPOUND,
    arabic_stem,
    german_stem,
    has_arabic,
    is_german,
    last_stem,
    plain_arabic,
)
from rowen.core.section import PATH_SEPARATOR

HEADING_WEIGHT = 5
"""The heading path stands so many times before a text."""
LONGEST_WORD = 100
FORWARDS, BACKWARDS = ">", "<"
"""Begin the words of German texts that are there for their parts."""


class Collected:
    """The different words of texts, text after text, as `counts.Counts` has them."""

    def __init__(self) -> None:
        self.stems = array("I")
        self.times = array("I")
        self.ends = array("q")
        self.lengths = array("q")

    def add(self, heading_path: str, text: str) -> str:
        """Count a text; answers what the index gets of it: stems between spaces, repeated ones included."""
        plain = words(plain_arabic(text) if has_arabic(text) else text).split()
        body = _stems_of(plain)
        titles = heading_path.split(PATH_SEPARATOR)
        heading = [stem for title in titles for stem in _of_title(title)]
        if is_german(plain):
            body += _parts_of(plain)
            heading += [part for title in titles for part in _parts_of_title(title)]
        times = Counter(body)
        for stem in heading:
            times[stem] += HEADING_WEIGHT
        self.stems.extend(map(_remembered_hash().__getitem__, times))
        self.times.extend(times.values())
        self.ends.append(len(self.stems))
        self.lengths.append(HEADING_WEIGHT * len(heading) + len(body))
        return " ".join(heading * HEADING_WEIGHT + body)


def stemmed(text: str) -> list[str]:
    """What words are in the index; more than one for a word that is cut."""
    return _stems_of(words(plain_arabic(text) if has_arabic(text) else text).split())


def forwards(word: str) -> str:
    """How the words of German texts begin that have this one at their beginning."""
    return FORWARDS + german_stem(word)


def backwards(word: str) -> str:
    """The same for those that have it at their end."""
    return BACKWARDS + last_stem(word)[::-1]


def hashed(stem: str) -> int:
    return zlib.crc32(stem.encode("utf-8", "replace"))


def _stems_of(plain: Sequence[str]) -> list[str]:
    found = list(map(_remembered_stem().__getitem__, plain))
    return list(filter(None, found)) if "" in found else found


def _parts_of(plain: Sequence[str]) -> list[str]:
    long = [word for word in plain if SHORTEST_COMPOUND <= len(word) <= LONGEST_WORD and word.isalpha()]
    return [part for word in long for part in (FORWARDS + word, BACKWARDS + german_stem(word)[::-1])]


@lru_cache(maxsize=4_096)
def _of_title(title: str) -> tuple[str, ...]:
    """Headings stand in the paths of all the sections below them."""
    return tuple(stemmed(title))


@lru_cache(maxsize=4_096)
def _parts_of_title(title: str) -> tuple[str, ...]:
    return tuple(_parts_of(words(title).split()))


class _Stems(dict[str, str]):
    """The stem of a word; an empty one for words that are too long to be in the index."""

    MOST = 200_000

    def __missing__(self, word: str) -> str:
        if len(self) >= self.MOST:
            self.clear()
        if has_arabic(word):
            stem = self[word] = arabic_stem(word)
            return stem
        found: list[str] = _analyzer().analyze(word)
        stem = self[word] = found[0] if found else ""
        return stem


class _Hashes(dict[str, int]):
    MOST = 200_000

    def __missing__(self, stem: str) -> int:
        if len(self) >= self.MOST:
            self.clear()
        number = self[stem] = hashed(stem)
        return number


@cache
def _remembered_stem() -> _Stems:
    return _Stems()


@cache
def _remembered_hash() -> _Hashes:
    return _Hashes()


@cache
def _analyzer() -> Any:
    import tantivy

    plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    short = plain.filter(tantivy.Filter.remove_long(LONGEST_WORD))
    return short.filter(tantivy.Filter.stemmer("English")).build()
