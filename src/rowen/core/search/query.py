"""What a user typed, as words to look for; and text, as the keyword index wants it.

Both sides of the keyword index meet here: `indexable` for passages, `terms` for queries. Chinese and Japanese
are written without spaces, Korean with endings glued to words, so both sides see their runs as overlapping
pairs of characters. Stemming and the folding of accents are the index's own work and are not done here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from rowen.core.search.morphology import has_arabic, plain_arabic, without_german_stop_words
from rowen.patterns import pattern

MAX_TERMS = 64
"""A pasted page is not a better question than its first words, and each term costs the index a list."""

CJK = (
    "\u3005-\u3007"  # iteration marks and the ideographic zero
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"  # kana, without its dots
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul syllables
)
"""Characters indexed in pairs, for the brackets of a regular expression. Punctuation is not among them."""

_cjk_run = pattern(f"[{CJK}]+")
# One range is three times as fast to look for, and most text has nothing in it.
_maybe_cjk = pattern("[\u3005-\U0003ffff]")
# Letters and digits with their combining accents: what FTS5's unicode61 keeps together. Where the two differ,
# the index splits a quoted term further and looks for a phrase, so nothing is lost.
_word = pattern("(?:[^\\W_]|[\u0300-\u036f])+")

_COMMON = """
a about also am an and any are as at be because been being between but by can could did do does doing each
for from had has have having he her here hers him his how i if in into is it its just me more most
my no nor not of on only or our s she should so some such t than that the their them then there
these they this those to too very was we were what when where which who whom whose why will with
would you your yours
"""
STOP_WORDS = frozenset(_COMMON.split())


def indexable(text: str) -> str:
    """The text as it goes into the keyword index."""
    if text.isascii() or not _maybe_cjk.search(text):
        return text
    return _cjk_run.sub(lambda run: f" {' '.join(pairs(run[0]))} ", text)


def terms(query: str) -> list[str]:
    """The words to look for, in lower case; a word typed twice counts twice.

    Common words of English are left out, and those of German where the question is German, unless there is
    nothing else.
    """
    if has_arabic(query):
        query = plain_arabic(query)
    # The reading stops early: the first words say what a long text is about.
    words = list(islice(_words(query), 4 * MAX_TERMS))
    telling = [word for word in without_german_stop_words(words) if word not in STOP_WORDS]
    return (telling or words)[:MAX_TERMS]


def fts5_match(terms: Sequence[str], prefix: str = "") -> str:
    """An FTS5 expression that matches any of the terms; each is quoted, so none can be syntax.

    No terms match nothing. A prefix matches every word that begins so.
    """
    beginning = [_quoted(prefix), _quoted(prefix).removesuffix("*") + "*"] if prefix else []
    return " OR ".join([*map(_quoted, terms), *beginning]) or _quoted("")


def pairs(run: str) -> list[str]:
    """The overlapping pairs of a run of characters; a single character stays as it is."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def is_cjk(text: str) -> bool:
    return not text.isascii() and _cjk_run.fullmatch(text) is not None


def _words(query: str) -> Iterator[str]:
    for match in _word.finditer(query):
        word = match[0].lower()
        if word.isascii():
            yield word
            continue
        end = 0
        for run in _cjk_run.finditer(word):
            if run.start() > end:
                yield word[end : run.start()]
            yield from pairs(run[0])
            end = run.end()
        if end < len(word):
            yield word[end:]


def _quoted(term: str) -> str:
    # FTS5 reads C strings, so a NUL would end the expression inside the quotes.
    quoted = '"' + term.replace("\0", " ").replace('"', '""') + '"'
    # One character alone is in the index only as the first of a pair (or the last of its run).
    return quoted + "*" if len(term) == 1 and is_cjk(term) else quoted
