"""Named statements: those in `sql/` here, by topic, and those a database has in their place or besides.

They are written in the SQL that both databases understand, with `:name` for a value. Some things are written
as one of them or neither does, and each database's rules put its own in their place:

    id IN list(:ids)                 one of these values
    reference IN keys(:keys)         one of these texts, by what a database finds long texts by
    COPY refs (id, ...) FROM STDIN   many rows at once
    text_of(c.text)                  a long text, which may be stored in fewer bytes
    text_bytes(c.text)               how many it has
    moment(:now)                     a time, as the table of handoffs has it
    time_of(h.updated_at)            and that as a time again
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path

Rule = tuple[str, str | Callable[[re.Match[str]], str]]
"""A pattern, and what comes in its place."""

_NAMED = "\n-- name: "
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


class Queries:
    def __init__(self, package: str, rules: Sequence[Rule]) -> None:
        self._package = package
        self._rules = [(re.compile(pattern), put) for pattern, put in rules]
        self.text = cache(self._text)
        """A statement as it is written, to be put together with others."""
        self.sql = cache(self._sql)
        """The statement of a name in the database's own SQL."""
        self.translated = lru_cache(maxsize=256)(self._translated)
        """A statement that was put together, in the database's own SQL."""

    def _text(self, name: str) -> str:
        texts = own(self._package)
        return _COMMENT.sub("", texts[name] if name in texts else shared()[name])

    def _translated(self, statement: str) -> str:
        for pattern, put in self._rules:
            statement = pattern.sub(put, statement)
        return statement

    def _sql(self, name: str) -> str:
        return self.translated(self.text(name))


@cache
def shared() -> dict[str, str]:
    """The statements of both databases by name, each with the sentence that says what it is for."""
    files = (Path(__file__).parent / "sql").iterdir()
    return {name: text for file in files for name, text in _named(file).items()}


@cache
def own(package: str) -> dict[str, str]:
    """The statements of one database."""
    return _named(folder_of(package) / "queries.sql")


def folder_of(package: str) -> Path:
    """Where a package's files lie; `importlib.resources` would import `zipfile`, `tempfile` and `shutil`."""
    return Path(import_module(package).__path__[0])


def _named(file: Path) -> dict[str, str]:
    # Split as a string: with a pattern it takes three times as long, at every start.
    named = (part.partition("\n") for part in f"\n{file.read_text('utf-8')}".split(_NAMED)[1:])
    return {name: text.strip() for name, _, text in named}
