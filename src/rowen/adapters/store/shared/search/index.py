"""The index of words: a follower of the texts on tantivy, beside the store.

Texts are added and never changed, so the index only grows; one that holds more texts that are gone than texts
that are there is made again. A text has a number here, its place in the file of keys. The stamp says how many
of them count: a writer that was killed leaves entries beyond it, which its successor deletes first.

Words are cut by `words`, as PostgreSQL's index has them, and stemmed here. The heading path stands five times
before the text: as one field it ranks as FTS5 does with five times the weight for headings.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rowen.adapters.store.shared.search.files import Stamped, append, numbers, writing
from rowen.adapters.store.shared.search.view import distinct
from rowen.adapters.store.shared.search.words import words
from rowen.core.search.query import is_cjk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADING_WEIGHT = 5
BLOCK_BITS = 6
"""Texts with numbers near each other mostly came together, of one source: a filter names blocks of 64."""
MOST_BLOCKS = 1_024
"""A filter of more is not worth naming: what does not pass is left out afterwards."""
MOST_ENDINGS = 32
"""Words that a beginning may stand for, the most frequent ones."""
SHORTEST_STEM = 4
DEEPER = 4
MEMORY = 32_000_000
"""Of the writer."""
LONGEST_WORD = 100
LEAST_WEIGHT = 1e-6
_BODY, _NUMBER, _BLOCK = "body", "number", "block"


class Text(NamedTuple):
    key: int
    heading_path: str
    text: str


class _Opened(NamedTuple):
    """What readers use; replaced as a whole."""

    state: tuple[int, int] | None
    begun: str
    index: Any
    searcher: Any
    keys: NDArray[np.int64]
    """By number."""
    ascending: NDArray[np.int64]
    numbers: NDArray[np.int64]
    """Of the ascending keys."""


class WordIndex:
    """Safe to share between threads."""

    def __init__(self, folder: Path, *, can_write: bool = True) -> None:
        self._files = Stamped(folder, "words")
        self.can_write = can_write
        self._guard = threading.Lock()
        self._opened: _Opened | None = None
        self.broken = False
        """It was there and could not be read."""

    @property
    def is_there(self) -> bool:
        return self._files.state() is not None

    def refresh(self) -> _Opened | None:
        """What is on the disk now; None without an index that can be read."""
        opened, state = self._opened, self._files.state()
        if state is None or (opened and opened.state == state):
            return opened if state else None
        with self._guard:
            if self._opened is None or self._opened.state != state:
                try:
                    self._opened = self._open(state)
                    self.broken = False
                except BaseException as exc:
                    if not _damaged(exc):
                        raise
                    self._opened, self.broken = None, True
            return self._opened

    def missing(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of ascending keys whose texts are not in the index."""
        import numpy as np

        opened = self.refresh()
        if opened is None or not len(opened.ascending):
            return np.arange(len(keys))
        at = np.minimum(np.searchsorted(opened.ascending, keys), len(opened.ascending) - 1)
        return np.flatnonzero(opened.ascending[at] != keys)

    def __len__(self) -> int:
        return len(opened.keys) if (opened := self.refresh()) else 0

    @property
    def blocks(self) -> int:
        return (len(self) >> BLOCK_BITS) + 1

    def blocks_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        import numpy as np

        opened = self.refresh()
        if opened is None or not len(opened.ascending):
            return np.empty(0, np.int64)
        at = np.minimum(np.searchsorted(opened.ascending, keys), len(opened.ascending) - 1)
        return distinct(opened.numbers[at] >> BLOCK_BITS)

    def best(
        self, terms: Sequence[str], wanted: int, *, prefix: str = "", blocks: Sequence[int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], bool] | None:
        """The keys and scores of so many texts, best first, and whether there are no more. None: unusable."""
        opened = self.refresh()
        if opened is None:
            return None
        try:
            return _best(opened, terms, wanted, prefix, blocks)
        except BaseException as exc:
            if not _damaged(exc):
                raise
            self._opened, self.broken = None, True
            return None

    def add(self, texts: Iterable[Text]) -> bool:
        """Index these texts, unless another process is writing. They count from now on, all of them."""
        with writing(self._files.folder) as mine:
            if not mine:
                return False
            self._add(list(texts))
            return True

    def forget(self) -> bool:
        """Begin again with nothing."""
        with writing(self._files.folder) as mine:
            if mine:
                self._files.begin()
                self._opened, self.broken = None, False
            return mine

    def _add(self, texts: list[Text]) -> None:
        import numpy as np
        import tantivy

        opened = None if self.broken else self.refresh()
        if opened is None:
            begun, held = self._files.begin(), np.empty(0, np.int64)
            folder = self._files.path(begun, "index")
            folder.mkdir()
            index = tantivy.Index(_schema(), str(folder))
            index.register_tokenizer("rowen", _analyzer())
        else:
            begun, held, index = opened.begun, opened.keys, opened.index
        fresh = set(self._fresh(np.array([one.key for one in texts], np.int64)).tolist())
        new = [text for number, text in enumerate(texts) if number in fresh]
        writer = index.writer(MEMORY, 1)
        try:
            if index.searcher().num_docs > len(held):
                writer.delete_documents_by_query(
                    tantivy.Query.range_query(_schema(), _NUMBER, tantivy.FieldType.Integer, len(held), 2**62)
                )
            for number, one in enumerate(new, len(held)):
                document = tantivy.Document()
                document.add_integer(_NUMBER, number)
                document.add_integer(_BLOCK, number >> BLOCK_BITS)
                document.add_text(_BODY, f"{words(one.heading_path)} " * HEADING_WEIGHT + words(one.text))
                writer.add_document(document)
            writer.commit()
        finally:
            # The writer's lock on the index must be gone before ours is.
            writer.wait_merging_threads()
            del writer
        if new:
            append(self._files.path(begun, "keys"), np.array([t.key for t in new], np.int64), at=len(held))
        self._files.write(begun=begun, count=len(held) + len(new))
        self.refresh()

    def _fresh(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of those that are not here, each once."""
        import numpy as np

        different, places = np.unique(keys, return_index=True)
        return places[self.missing(different)] if self._opened else places

    def _open(self, state: tuple[int, int]) -> _Opened:
        import numpy as np
        import tantivy

        stamp = self._files.read()
        if stamp is None:
            raise ValueError("no stamp that can be read")
        begun, count = str(stamp["begun"]), int(stamp["count"])
        held = self._opened
        if held is not None and held.begun == begun:
            index = held.index
        else:
            index = tantivy.Index.open(str(self._files.path(begun, "index")))
            index.register_tokenizer("rowen", _analyzer())
            index.config_reader("manual")
        keys = numbers(self._files.path(begun, "keys"), count) if count else np.empty(0, np.int64)
        index.reload()
        searcher = index.searcher()
        if searcher.num_docs < count:
            raise ValueError(f"{searcher.num_docs} of {count} texts are in the index")
        order = np.argsort(keys, kind="stable")
        return _Opened(state, begun, index, searcher, keys, keys[order], order)


def _best(
    opened: _Opened, terms: Sequence[str], wanted: int, prefix: str, blocks: Sequence[int] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
    import numpy as np
    import tantivy

    query = _query(opened, terms, prefix)
    if query is None:
        return np.empty(0, np.int64), np.empty(0), True
    if blocks is not None:
        named = tantivy.Query.term_set_query(_schema(), _BLOCK, blocks)
        must = tantivy.Occur.Must
        passing = tantivy.Query.const_score_query(named, 0.0)
        query = tantivy.Query.boolean_query([(must, query), (must, passing)])
    hits = opened.searcher.search(query, wanted, count=False).hits
    found = opened.searcher.fast_field_values(_NUMBER, [address for _, address in hits])
    at = np.array(found, np.int64)
    scores = np.array([score for score, _ in hits], np.float64)
    # Beyond the stamp are entries of a writer that has not ended, or was killed.
    counts = at < len(opened.keys)
    return opened.keys[at[counts]], scores[counts], len(hits) < wanted


def _query(opened: _Opened, terms: Sequence[str], prefix: str) -> Any:
    import tantivy

    any_of = tantivy.Occur.Should
    clauses = []
    for term in terms:
        if len(term) == 1 and is_cjk(term):
            # One character alone is in the index only as the first of a pair (or the last of its run).
            clauses += [(any_of, _term(word)) for word in _beginning_with(opened, term)]
        else:
            clauses += [(any_of, _weighed(opened, word)) for word in stemmed(term)]
    if prefix:
        endings = dict.fromkeys([*stemmed(prefix), *_beginning_with(opened, prefix)])
        if endings:
            clauses.append(
                (any_of, tantivy.Query.disjunction_max_query([_weighed(opened, word) for word in endings]))
            )
    return tantivy.Query.boolean_query(clauses) if clauses else None


def _beginning_with(opened: _Opened, prefix: str) -> list[str]:
    plain = words(prefix).strip()
    if not plain:
        return []
    found = opened.searcher.terms_with_prefix(_BODY, plain, limit=MOST_ENDINGS)
    if found:
        return [word for word, _ in found]
    # More than the stem was typed: `configura` is in the index as `configur`.
    stems = (plain[:length] for length in range(len(plain) - 1, SHORTEST_STEM - 1, -1))
    return [next((stem for stem in stems if opened.searcher.doc_freq(_BODY, stem)), plain)]


def _weighed(opened: _Opened, word: str) -> Any:
    """A word that half of the texts have tells nothing, as FTS5 has it; the library goes on counting it."""
    import tantivy

    having = opened.searcher.doc_freq(_BODY, word)
    odds = (opened.searcher.num_docs - having + 0.5) / (having + 0.5)
    weight = max(math.log(odds), LEAST_WEIGHT) / math.log1p(odds) if odds > 1 else LEAST_WEIGHT
    return tantivy.Query.boost_query(_term(word), weight)


def _term(word: str) -> Any:
    import tantivy

    return tantivy.Query.term_query(_schema(), _BODY, word, index_option="freq")


def stemmed(term: str) -> list[str]:
    """What a word is in the index; more than one where the index cuts it."""
    found: list[str] = _analyzer().analyze(words(term))
    return found


@cache
def _analyzer() -> Any:
    import tantivy

    plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    short = plain.filter(tantivy.Filter.remove_long(LONGEST_WORD))
    return short.filter(tantivy.Filter.stemmer("English")).build()


@cache
def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(_NUMBER, indexed=True, fast=True)
    builder.add_integer_field(_BLOCK, indexed=True)
    builder.add_text_field(_BODY, tokenizer_name="rowen", index_option="freq")
    return builder.build()


def _damaged(exc: BaseException) -> bool:
    """How the reading of damaged files ends; the library's panics are no `Exception`."""
    return isinstance(exc, Exception) or type(exc).__name__ == "PanicException"
