"""How words are formed, where that decides what is found: compounds of German, Arabic words with an article.

German writes `Datenschutzgrundverordnung` as one word, and a question for `Datenschutz` means it. Arabic
joins the article, `and` and pronouns to a word, and writes one letter in several ways.

Everything here looks at one text or word and at nothing else, so a text has the same words at any time. Words
are in lower case; those of German come without accents, as the index has them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from rowen.patterns import pattern

SHORTEST_PART = 5
"""Letters of a word that is looked for in compounds; shorter ones begin and end too many words."""
SHORTEST_COMPOUND = 6

_COMMON = """
aber als am auch auf aus bei beim bis dadurch damit das dass dem der des diese dieser dieses durch ein eine
einem einen einer eines erfolgt fur gegen haben hat ihre ihrer ihren im ist jede jeder jedes kann kein keine
keinen konnen mehr mit muss mussen nach nicht noch nur ob oder ohne sein seine seit sich sie sind sowie uber
um und unter vom von vor war weitere welche wenn werden wie wird wo wurde wurden zu zum zur zwischen
"""
_IN_QUESTIONS = "an den die es ich in man mich mir so was wer wir"
_AMBIGUOUS = "am bei bis das hat mit ob um von war wo zu"
"""In names, in English texts or in those of other languages: they prove nothing."""
_GERMAN = frozenset(_COMMON.split())
_GERMAN_ASKED = _GERMAN.union(_IN_QUESTIONS.split())
_TELLING = _GERMAN.difference(_AMBIGUOUS.split())
_SHORT_TEXT, _SHARE = 16, 0.06
_SHORTEST_SENTENCE = 3
_ENDINGS = ("ern", "em", "en", "er", "es", "e", "n", "s")

_LETTERS = pattern(r"[^\W\d_]+")
_arabic = pattern("[\u0620-\u064a\u0671-\u06d3]")
_arabic_marks = pattern("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")
_ARABIC_LETTERS = str.maketrans(
    {
        "\u0622": "\u0627",
        "\u0623": "\u0627",
        "\u0625": "\u0627",
        "\u0671": "\u0627",
        "\u0649": "\u064a",
        "\u0629": "\u0647",
    }
)
# And-the, by-the, as-the, so-the, the, for-the.
_BEGINNINGS = (
    "\u0648\u0627\u0644 \u0628\u0627\u0644 \u0643\u0627\u0644 \u0641\u0627\u0644 \u0627\u0644 \u0644\u0644"
)
_ARABIC_BEGINNINGS = _BEGINNINGS.split()
# Her, two, plurals, and the endings of adjectives.
_LAST = "\u0647\u0627 \u0627\u0646 \u0627\u062a \u0648\u0646 \u064a\u0646 \u064a\u0647 \u0647 \u064a"
_ARABIC_ENDINGS = _LAST.split()


def is_german(words: Sequence[str]) -> bool:
    """Do these words, in the order of a text, make a German one?"""
    found = _TELLING.intersection(words)
    if not found:
        return False
    if len(words) < _SHORT_TEXT:
        return True
    return len(found) > 1 and sum(map(found.__contains__, words)) >= _SHARE * len(words)


def without_german_stop_words(words: Sequence[str]) -> list[str]:
    """Of a question, the words that say what it is about, if it is a German sentence; else all."""
    if len(words) < _SHORTEST_SENTENCE:
        return list(words)
    plain = [without_accents(word) for word in words]
    if not is_german(plain):
        return list(words)
    return [word for word, one in zip(words, plain, strict=True) if one not in _GERMAN_ASKED]


def without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one))


@lru_cache(maxsize=4096)
def german_stem(word: str, least: int = SHORTEST_PART) -> str:
    """A word without its last ending, if so much is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word


def is_form_of(question: str, word: str, other: str) -> bool:
    """Are two words the same one with different endings, in a question in German?"""
    return german_stem(word) == german_stem(other) and is_german(
        [without_accents(one) for one in _LETTERS.findall(question.lower())]
    )


def is_part(part: str, word: str) -> bool:
    """Does a word of a German text begin or end with this one?"""
    if len(part) < SHORTEST_PART or len(word) < SHORTEST_COMPOUND:
        return False
    return word.startswith(german_stem(part)) or german_stem(word).endswith(last_stem(part))


def last_stem(part: str) -> str:
    """What a compound that ends with this word ends with, when it has lost its own ending."""
    return german_stem(part, SHORTEST_PART - 1)


def has_arabic(text: str) -> bool:
    return not text.isascii() and _arabic.search(text) is not None


def plain_arabic(text: str) -> str:
    """Without vowel marks and lengthening, each letter in one form."""
    return _arabic_marks.sub("", text).translate(_ARABIC_LETTERS)


@lru_cache(maxsize=4096)
def arabic_stem(word: str) -> str:
    """A plain word without the article, what is joined before it, and the commonest endings."""
    if len(word) > 3 and word.startswith("\u0648"):
        word = word[1:]
    beginning = next((one for one in _ARABIC_BEGINNINGS if word.startswith(one)), "")
    if len(word) - len(beginning) >= 2:
        word = word[len(beginning) :]
    for ending in _ARABIC_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            word = word[: -len(ending)]
    return word
