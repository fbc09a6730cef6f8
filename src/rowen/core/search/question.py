"""What a user typed, taken apart: words to look for, phrases that must stand, words that must not.

    "task group" cancel -thread    what has the phrase and does not say `thread`, ranked by the other words

Phrases and excluded words choose among what the rankings found; the words of a phrase are ranked by, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rowen.core.search import query
from rowen.core.search.hit import Place
from rowen.core.search.plain import plain
from rowen.core.search.snippet import stem
from rowen.patterns import pattern

MORE_DEPTH = 5
"""How much deeper the rankings are read when a phrase chooses among what they found."""

_PHRASE = pattern(r'"([^"]*[^"\s][^"]*)"|“([^”]*[^”\s][^”]*)”')
# One dash and a word of two letters or more: `--quiet` and `-q` are names of options.
_EXCLUDED = pattern(r"(?<!\S)-([^\W\d_][\w]+)(?=\s|$)")
_LAST = pattern(r"[^\W_]+$")
_WORD = pattern(r"[^\W_]+")


@dataclass(frozen=True)
class Question:
    """What is asked."""

    text: str
    """Without excluded words and quotation marks: what is embedded, and what may be a name."""
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    @classmethod
    def read(cls, typed: str) -> Question:
        text = typed
        excluded: tuple[str, ...] = ()
        phrases: tuple[str, ...] = ()
        if "-" in typed:
            excluded = tuple(word.lower() for word in _EXCLUDED.findall(typed))
            text = _EXCLUDED.sub("", typed)
        if '"' in text or "“" in text:
            phrases = tuple(_folded(one or other) for one, other in _PHRASE.findall(text))
            text = _PHRASE.sub(lambda found: found[1] or found[2], text)
        return cls(" ".join(text.split()), phrases, excluded)

    @property
    def only_excludes(self) -> bool:
        return bool(self.excluded) and not self.text

    @cached_property
    def terms(self) -> list[str]:
        return query.terms(self.text)

    @cached_property
    def being_typed(self) -> tuple[list[str], str]:
        """The words that are written, and the beginning of the last one, which may not be at its end yet."""
        last = _LAST.search(self.text)
        if last is None or query.is_cjk(last[0]):
            return self.terms, ""
        before = self.text[: last.start()]
        return (query.terms(before) if before.strip() else []), last[0].lower()

    @property
    def chooses(self) -> bool:
        return bool(self.phrases or self.excluded)

    def allows(self, place: Place) -> bool:
        """Has a place all phrases, and none of the excluded words?"""
        if not self.chooses:
            return True
        said = _folded(f"{place.title}\n{place.heading_path}\n{plain(place.text)}")
        if not all(phrase in said for phrase in self.phrases):
            return False
        unwanted = {stem(word) for word in self.excluded}
        return not unwanted or unwanted.isdisjoint(stem(word) for word in _WORD.findall(said))


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
