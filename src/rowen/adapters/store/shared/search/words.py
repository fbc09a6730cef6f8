"""Texts as the words of the keyword index."""

from __future__ import annotations

import unicodedata

from rowen.core.search.query import indexable
from rowen.patterns import pattern

# For most texts: a table is several times as fast as a pattern.
_ASCII = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
_PUNCTUATION = pattern("[^\0-\x7f\\w\u0300-\u036f]+")
"""Of typography, and other marks: often all that keeps a text from being ASCII."""
_NO_WORD = pattern("[^\\w\u0300-\u036f]+|_+")
_ACCENTS = pattern("(?<=[a-z])[\u0300-\u036f]+")


def words(text: str) -> str:
    """The text as words between spaces, in lower case, Latin letters without accents, as SQLite has them.

    The server's own parser would read `os.path.join` as the name of a host, and `path` would not find it;
    what it takes for capital letters depends on the database.
    """
    if text.isascii() or (text := _PUNCTUATION.sub(" ", indexable(text))).isascii():
        return text.translate(_ASCII)
    plain = _NO_WORD.sub(" ", text).lower()
    if plain.isascii():
        return plain
    # The dots of Japanese and the parts of Korean syllables are put together again.
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))
