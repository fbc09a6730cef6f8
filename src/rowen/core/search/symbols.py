"""Names of what is defined: how a question names one, and how well a definition fits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum

from rowen.core.search import spelling
from rowen.patterns import pattern

_SEPARATOR = pattern(r"::|->|[.#/\\]")
_MARKS = pattern(r"[\W_]+")
_END_OF_SENTENCE = ".,;:?!…。？！"
_NAME_IN_CODE = pattern(r"\w+")
_CALL = pattern(r"\(.*\)?$")
# A word that is written as no word of a sentence is: with marks inside, or a capital after a small letter.
_NAME = pattern(
    r"\w+(?:(?:::|->|[.#])\w+)+|\w*[a-z0-9]_\w+|_+\w+|[A-Z]+_\w+|[A-Za-z]*[a-z][A-Z]\w*|--?[a-z][\w-]+|\w+(?=\(\))"
)
_DIGITS = pattern(r"\d")
_LETTERS = pattern(r"[^\W\d_]{3}")
MIN_REPAIRED = 4
MAX_REPAIRED = 8
MAX_WORDS = 6
"""A longer question is a sentence, and not the name of something."""


class Fit(IntEnum):
    """How well a symbol fits a question; more is better."""

    NONE = 0
    WORD = 1
    """Its last part is a plain word of the question: `Task.cancel`, of how to cancel a task."""
    MENTIONED = 2
    """The question names it, among other words."""
    WORDS = 3
    """The question is its last part, written as words or in other letters."""
    MEMBER = 4
    """Source code defines it, and in it what the question names: `Shelf`, of `Shelf.add`."""
    LAST_PART = 5
    PARTS = 6
    """The question is the end of its name: `TaskGroup.create_task`."""
    FULL = 7


def words_of(name: str) -> str:
    """What a symbol is looked up by: `asyncio.TaskGroup.create_task` by `createtask`."""
    return _folded(last_part(name))


def last_part(name: str) -> str:
    """`create_task` of `asyncio.TaskGroup.create_task`."""
    parts = [part for part in _SEPARATOR.split(_CALL.sub("", name.strip())) if part]
    return parts[-1] if parts else name


def names_in(query: str) -> list[str]:
    """The words by which a question may name symbols."""
    found: dict[str, None] = {}
    plain = query.strip().strip("`'\"")
    if len(plain.split()) <= MAX_WORDS:
        found[words_of(plain) if " " not in plain else _folded(plain)] = None
    if " " not in plain and (owner := _owner(_dotted(_CALL.sub("", plain)))):
        found[words_of(owner)] = None
    for name in _NAME.findall(query):
        found[words_of(name)] = None
    found.pop("", None)
    return list(found)


def fit(symbol: str, query: str, terms: Sequence[str] = ()) -> Fit:
    """`terms` are the words that are looked for."""
    plain = _CALL.sub("", query.strip().strip("`'\""))
    # A decorator is called with a mark that its name does not have.
    plain = plain if symbol.startswith("@") else plain.removeprefix("@")
    named, wanted = _dotted(symbol), _dotted(plain)
    if wanted == named:
        return Fit.FULL
    if named.endswith("." + wanted):
        return Fit.PARTS if "." in wanted else Fit.LAST_PART
    words = words_of(symbol)
    if words == _folded(plain):
        # `merge` is the command, the branch and the term before it is one of many options `--merge`.
        return Fit.WORD if symbol.startswith("-") and plain.isalpha() else Fit.WORDS
    mentioned = [name for name in _NAME.findall(query) if words_of(name) == words]
    if any(_fits(named, name) for name in mentioned):
        return Fit.MENTIONED
    return Fit.WORD if words in terms else Fit.NONE


def fit_in_source(symbol: str, query: str, text: str, *, extends: bool = False) -> Fit:
    """How well what source code defines, or extends, fits a question that is its name.

    A file does not know all of its module, so the question may say more. A short class is one section with
    all of its members: `text` shows whether it has the one that is asked for.
    """
    found = min(fit(symbol, query), Fit.MENTIONED if extends else Fit.FULL)
    if found > Fit.MENTIONED:
        return found
    named, wanted = _dotted(symbol), _dotted(_CALL.sub("", query.strip().strip("`'\"")))
    if "." in named and wanted.endswith(f".{named}") and not extends:
        return Fit.PARTS
    owner, member = _owner(wanted), last_part(wanted)
    if not owner or not (f".{named}".endswith(f".{owner}") or f".{owner}".endswith(f".{named}")):
        return found
    return Fit.MEMBER if member in _NAME_IN_CODE.findall(text.lower()) else found


def in_same_letters(symbol: str, query: str) -> bool:
    """Are small and capital letters of the last parts the same: `asyncio.timeout`, not `asyncio.Timeout`?"""
    return last_part(symbol) == last_part(query.strip().strip("`'\""))


def as_typed(query: str) -> str | None:
    """A question of one word with marks in it, of which the parts alone say less: `--slots`, `encrypt_iv`."""
    plain = query.strip().strip("`'\"").rstrip(_END_OF_SENTENCE).lower()
    return plain if len(plain.split()) == 1 and _MARKS.search(plain) else None


def is_written_as_name(word: str) -> bool:
    """Is it written as no word of a sentence is: `--dist-dir`, `os.path`? Not so `real-time`."""
    return _NAME.fullmatch(word) is not None


def has_names(query: str) -> bool:
    """Does it have a word that is written as no word of a sentence is?"""
    return _NAME.search(query) is not None


def names_of_parts(text: str) -> list[str]:
    """Names of several words that stand in a text or a question: `lock_timeout`, `os.path`, `--dist-dir`."""
    return [name for name in _NAME.findall(text) if _MARKS.search(name.strip("-_")) and _LETTERS.search(name)]


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that a mistyped one means, as it is written; the most frequent of the nearest ones.

    A number is no slip of another one: `python3.8` does not mean `python3.9`.
    """
    digits = _DIGITS.findall(name)
    written = Counter(one for one in known if _DIGITS.findall(one) == digits)
    spelt: dict[str, str] = {}
    for one in sorted(written, key=lambda one: (-written[one], one)):
        spelt.setdefault(one.lower(), one)
    near = spelling.nearest(name.lower(), spelt, slips=slips(name))
    return spelt[max(near, key=lambda one: written[spelt[one]])] if near else None


def is_one_name(query: str) -> bool:
    """A question of one word, long enough that a slip in it can be told from another word."""
    return len(query.split()) == 1 and len(words_of(query)) >= MIN_REPAIRED


def repaired(query: str, known: Sequence[str]) -> list[str]:
    """The known words of symbols that a mistyped name may mean, the nearest ones."""
    word = words_of(query)
    return spelling.nearest(word, known, slips=slips(word))[:MAX_REPAIRED]


def slips(word: str) -> int:
    return 1 if len(word) < 8 else 2


def _fits(named: str, name: str) -> bool:
    dotted = _dotted(_CALL.sub("", name))
    return named == dotted or named.endswith("." + dotted) or "." not in dotted


def _owner(dotted: str) -> str:
    """`taskgroup` of `taskgroup.create_task`."""
    return dotted.rpartition(".")[0]


def _dotted(name: str) -> str:
    return _SEPARATOR.sub(".", name).lower()


def _folded(text: str) -> str:
    return _MARKS.sub("", text).lower()
