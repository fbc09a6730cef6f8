"""The few words of a passage that show why it was found.

Plain text in one line, and where in it the matched words stand. They are nearly what the keyword index would
match: the comparison of word endings is lighter than the index's stemmer, and decides nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from rowen.core.search.morphology import (
    SHORTEST_PART,
    arabic_stem,
    german_stem,
    has_arabic,
    is_german,
    is_part,
    last_stem,
    plain_arabic,
    without_accents,
)
from rowen.core.search.plain import plain
from rowen.core.search.query import CJK, is_cjk
from rowen.patterns import pattern
from rowen.records import NamedTuple

CUT = "…"

# Letters and digits that are not plain ones, and accents that stand apart.
_foreign = pattern("[^\\W\x00-\x7f]|[\u0300-\u036f]")
_letters = pattern(r"[^\W_]+")
_rest_of_word = pattern(r"[a-z0-9]+")
_piece = pattern(f"[{CJK}]+|[^\\W_{CJK}]+(?:[\u0300-\u036f]+[^\\W_{CJK}]*)*")


class Snippet(NamedTuple):
    text: str
    matches: tuple[tuple[int, int], ...]
    """Where the matched words stand in the text: start and end, the end not included."""


class _Match(NamedTuple):
    start: int
    end: int
    terms: tuple[str, ...]


def snippet(text: str, terms: Sequence[str], *, width: int = 240, from_beginning: bool = False) -> Snippet:
    """At most about `width` characters of the text, around the place where most of the terms meet.

    The definition of a name that was asked for is shown `from_beginning`: there is what it is.
    """
    line = plain(text)
    matches = list(_matches(line, terms)) or _compound_matches(line, _looked_for(tuple(terms))[1])
    if matches and not from_beginning:
        start, end = _window(line, matches, width)
    else:
        start, end = 0, _word_border_before(line, width, 0)
    before, after = CUT if start > 0 else "", CUT if end < len(line) else ""
    shift = len(before) - start
    return Snippet(
        f"{before}{line[start:end]}{after}",
        tuple(
            (match.start + shift, match.end + shift)
            for match in matches
            if match.start >= start and match.end <= end
        ),
    )


def _matches(line: str, terms: Sequence[str]) -> Iterator[_Match]:
    """Where the terms are, from left to right, without overlap."""
    runs, stems = _looked_for(tuple(terms))
    if not runs and (line.isascii() or not _foreign.search(line)):
        yield from _plain_matches(line, stems)
        return
    # A stem begins as its word does, so two letters tell most words apart without looking at their endings.
    beginnings = {found[:2] for found in stems}
    for piece in _piece.finditer(line):
        text = piece[0]
        if text.isascii():
            if text[:2].lower() not in beginnings:
                continue
        elif is_cjk(text):
            yield from _run_matches(text, piece.start(), runs)
            continue
        if (found := stem(text.lower())) in stems:
            yield _Match(piece.start(), piece.end(), (found,))


@lru_cache(maxsize=64)
def _looked_for(terms: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Runs of characters that are looked for in pairs, and the stems of all other words."""
    runs = frozenset(term for term in terms if is_cjk(term))
    return runs, frozenset(stem(term) for term in terms if term not in runs)


def stems_in(text: str, wanted: Collection[str]) -> set[str]:
    """Which of these stems the words of a text have."""
    if text.isascii() or not _foreign.search(text):
        found = {one.terms[0] for one in _plain_matches(text, wanted)}
    else:
        text = plain_arabic(text) if has_arabic(text) else text
        found = {stem(word) for word in _letters.findall(text.lower())}.intersection(wanted)
    missing = [one for one in wanted if one not in found]
    return found.union(one.terms[0] for one in _compound_matches(text, missing)) if missing else found


def _compound_matches(line: str, stems: Collection[str]) -> list[_Match]:
    """The words of a German text that begin or end with one of these."""
    parts = [one for one in stems if len(one) >= SHORTEST_PART]
    if not parts:
        return []
    if line.isascii():
        small = line.lower()
        # What stands nowhere in a text is no part of its words, and that is most of what is looked for here.
        if not any(german_stem(part) in small or last_stem(part) in small for part in parts):
            return []
        plain = _letters.findall(small)
    else:
        plain = [without_accents(word.lower()) for word in _letters.findall(line)]
    if not is_german(plain):
        return []
    return [
        _Match(word.start(), word.end(), (part,))
        for word, one in zip(_letters.finditer(line), plain, strict=True)
        for part in [next((part for part in parts if is_part(part, one)), None)]
        if part is not None
    ]


def _plain_matches(line: str, stems: Collection[str]) -> list[_Match]:
    """The words with one of these stems, in a line whose letters are those of ASCII.

    A stem is how its words begin, but for a last `i`: looking for these few letters is many times as fast as
    looking at every word.
    """
    small = line.lower()
    found: dict[int, _Match] = {}
    for one in stems:
        beginning = one.removesuffix("i") or one
        at = small.find(beginning)
        while at >= 0:
            end = at + len(beginning)
            if not at or not small[at - 1].isalnum():
                word = _rest_of_word.match(small, end)
                end = word.end() if word else end
                if (own := stem(small[at:end])) in stems:
                    found[at] = _Match(at, end, (own,))
            at = small.find(beginning, end)
    return [found[at] for at in sorted(found)]


def _run_matches(run: str, offset: int, terms: Collection[str]) -> Iterator[_Match]:
    """Overlapping pairs of one run are marked as one stretch."""
    found: set[str] = set()
    start = end = -1
    for i in range(len(run)):
        here = [term for term in (run[i], run[i : i + 2]) if term in terms]
        if not here:
            continue
        if i >= end and found:
            yield _Match(offset + start, offset + end, tuple(found))
            found.clear()
        if not found:
            start = i
        found.update(here)
        end = max(end, i + max(map(len, here)))
    if found:
        yield _Match(offset + start, offset + end, tuple(found))


def _window(line: str, matches: Sequence[_Match], width: int) -> tuple[int, int]:
    """The stretch that holds most different terms, then most matches; the first of equals."""
    best = (0, 0)
    first = last = 0
    seen: dict[str, int] = {}
    j = 0
    for i, left in enumerate(matches):
        while j < len(matches) and (j == i or matches[j].end - left.start <= width):
            for term in matches[j].terms:
                seen[term] = seen.get(term, 0) + 1
            j += 1
        if (len(seen), j - i) > best:
            best, first, last = (len(seen), j - i), i, j - 1
        for term in left.terms:
            if seen[term] == 1:
                del seen[term]
            else:
                seen[term] -= 1
    must_start, must_end = matches[first].start, matches[last].end
    if len(line) <= width:
        return 0, len(line)
    spare = max(0, width - (must_end - must_start))
    # A third of the room before, the rest after; what one side cannot use goes to the other.
    start = max(0, must_start - spare // 3)
    end = min(len(line), start + max(width, must_end - start))
    start = max(0, min(start, end - width)) if end - width < must_start else must_start
    return _word_border_after(line, start, must_start), _word_border_before(line, end, must_end)


def _word_border_after(line: str, at: int, latest: int) -> int:
    """The first place from `at` on where a word begins; `latest` is one for sure."""
    if at and line.isascii() and line[at - 1] != " ":
        return line.find(" ", at, latest) + 1 or latest
    while at < latest and not _is_border(line, at):
        at += 1
    while at < latest and line[at] == " ":
        at += 1
    return at


def _word_border_before(line: str, at: int, earliest: int) -> int:
    """The last place up to `at` where a word ends, not before `earliest`."""
    if at >= len(line):
        return len(line)
    if line.isascii():
        end = line.rfind(" ", earliest, at + 1)
        return end if end >= 0 else earliest or at
    end = at
    while end > earliest and not _is_border(line, end):
        end -= 1
    if end == 0:
        return at
    while end > earliest and line[end - 1] == " ":
        end -= 1
    return end


def _is_border(line: str, at: int) -> bool:
    if at in (0, len(line)) or line[at] == " " or line[at - 1] == " ":
        return True
    return not line[at - 1 : at + 1].isascii() and (is_cjk(line[at - 1]) or is_cjk(line[at]))


_VOWELS = frozenset("aeiouy")
# Endings by the number of letters that must be left when one is taken off.
_AT_LEAST = {
    2: "ings ing ed ies es s e",
    3: "izations ization isations isation ations ation ators ator ating ated ates ate izing ized izes ize "
    "edly",
    4: "ly",
    5: "ions ion ers er ements ement ences ence ents ent ances ance ants ant able",
    6: "ments ment",
}
_ENDINGS = {ending: letters for letters, endings in _AT_LEAST.items() for ending in endings.split()}
_LENGTHS = sorted({len(ending) for ending in _ENDINGS}, reverse=True)
_NOT_AFTER = {"s": "su", "ed": "e", "ions": "aeiounr", "ion": "aeiounr", "ents": "m", "ent": "m"}


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """What a lower-case word shares with its other forms: `configuring` and `configuration` have one stem."""
    if not word.isascii():
        if has_arabic(word):
            return arabic_stem(plain_arabic(word))
        word = without_accents(word)
    for length in _LENGTHS:
        ending = word[-length:]
        at_least = _ENDINGS.get(ending)
        if at_least is None:
            continue
        rest = word[:-length]
        if len(rest) < at_least or _VOWELS.isdisjoint(rest):
            continue
        if rest[-1] in _NOT_AFTER.get(ending, ""):
            continue
        if ending == "ies":
            return rest + "i"
        if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
            return rest[:-1]
        word = rest
        break
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 else word
