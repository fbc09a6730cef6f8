"""The index of words: a follower of the texts on tantivy, beside the store.

Texts are added and never changed, so the index only grows; one that holds more texts that are gone than texts
that are there is made again. A text has a number here, its place in the file of keys. The stamp says how many
of them count: a writer that was killed leaves entries beyond it, which its successor deletes first.

Words are cut by `words`, as PostgreSQL's index has them, and stemmed by `stems`. The heading path stands five
times before the text: as one field it ranks as FTS5 does with five times the weight for headings. Beside the
index stand the words of each text (`counts.py`), by which what the index proposes is scored.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rowen.adapters.store.shared.search import counts as counting
from rowen.adapters.store.shared.search.counts import MOST_TIMES, Counts, Seen
from rowen.adapters.store.shared.search.files import Stamped, append, mapped, numbers, writing
from rowen.adapters.store.shared.search.stems import Collected, hashed, stemmed
from rowen.adapters.store.shared.search.view import distinct
from rowen.adapters.store.shared.search.words import words
from rowen.core.search.query import is_cjk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_BITS = 6
"""Texts with numbers near each other mostly came together, of one source: a filter names blocks of 64."""
MOST_BLOCKS = 1_024
"""A filter of more is not worth naming: what does not pass is left out afterwards."""
MOST_ENDINGS, ENDINGS_LOOKED_AT = 32, 256
"""Words that a beginning may stand for, the most frequent ones that readers can see."""
SHORTEST_STEM = 4
DEEPER = 4
MEMORY = 32_000_000
"""Of the writer."""
_BODY, _NUMBER, _BLOCK = "body", "number", "block"


class Text(NamedTuple):
    key: int
    """The beginning of its hash, see `view.py`."""
    heading_path: str
    text: str


class Opened(NamedTuple):
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
    counts: Counts
    exact: bool
    """The index holds these texts and no others: not even what a killed writer left, which was deleted."""


class Best(NamedTuple):
    keys: NDArray[np.int64]
    """Best first; equals in the order of their keys."""
    scores: NDArray[np.float64]
    beyond: float
    """No text that is not among them has more."""
    all_there_are: bool


class WordIndex:
    """Safe to share between threads."""

    def __init__(self, folder: Path, *, can_write: bool = True) -> None:
        self._files = Stamped(folder, "words")
        self.can_write = can_write
        self._guard = threading.Lock()
        self._opened: Opened | None = None
        self.broken = False
        """It was there and could not be read."""

    @property
    def is_there(self) -> bool:
        return self._files.state() is not None

    def refresh(self) -> Opened | None:
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
        self,
        terms: Sequence[str],
        wanted: int,
        *,
        prefix: str = "",
        blocks: Sequence[int] | None = None,
        seen: Callable[[Opened], Seen] | None = None,
    ) -> Best | None:
        """So many texts as the index proposes, scored by what readers see: by default all. None: unusable."""
        opened = self.refresh()
        if opened is None:
            return None
        try:
            weighed_by = seen(opened) if seen else seen_of(opened, opened.ascending)
            return _best(opened, terms, wanted, prefix, blocks, weighed_by)
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
            index.register_tokenizer("rowen", _spaces())
        else:
            begun, held, index = opened.begun, opened.keys, opened.index
        fresh = set(self._fresh(np.array([one.key for one in texts], np.int64)).tolist())
        new = [text for number, text in enumerate(texts) if number in fresh]
        exact = opened is None or opened.exact
        collected = Collected()
        writer = index.writer(MEMORY, 1)
        try:
            if index.searcher().num_docs > len(held):
                exact = False
                writer.delete_documents_by_query(
                    tantivy.Query.range_query(_schema(), _NUMBER, tantivy.FieldType.Integer, len(held), 2**62)
                )
            for number, one in enumerate(new, len(held)):
                document = tantivy.Document()
                document.add_integer(_NUMBER, number)
                document.add_integer(_BLOCK, number >> BLOCK_BITS)
                document.add_text(_BODY, collected.add(one.heading_path, one.text))
                writer.add_document(document)
            writer.commit()
        finally:
            # The writer's lock on the index must be gone before ours is.
            writer.wait_merging_threads()
            del writer
        entries = int(opened.counts.ends[-1]) if opened and len(held) else 0
        if new:
            append(self._files.path(begun, "keys"), np.array([t.key for t in new], np.int64), at=len(held))
            entries = self._append_counts(begun, collected, at=len(held), after=entries)
        self._files.write(begun=begun, count=len(held) + len(new), entries=entries, exact=exact)
        self.refresh()

    def _append_counts(self, begun: str, collected: Collected, *, at: int, after: int) -> int:
        import numpy as np

        stems = np.asarray(collected.stems).astype(np.uint32, copy=False)
        times = np.asarray(collected.times).clip(max=MOST_TIMES).astype(np.uint8)
        ends = after + np.asarray(collected.ends)
        if len(stems):
            append(self._files.path(begun, "stems"), stems, at=after)
            append(self._files.path(begun, "times"), times, at=after)
        append(self._files.path(begun, "ends"), ends, at=at)
        append(self._files.path(begun, "lengths"), np.asarray(collected.lengths), at=at)
        return int(ends[-1])

    def _fresh(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of those that are not here, each once."""
        import numpy as np

        different, places = np.unique(keys, return_index=True)
        return places[self.missing(different)] if self._opened else places

    def _open(self, state: tuple[int, int]) -> Opened:
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
            index.register_tokenizer("rowen", _spaces())
            index.config_reader("manual")
        keys, ends, lengths = (
            numbers(self._files.path(begun, kind), count) if count else np.empty(0, np.int64)
            for kind in ("keys", "ends", "lengths")
        )
        entries = int(stamp["entries"])
        stems = mapped(self._files.path(begun, "stems"), np.uint32, entries)
        times = mapped(self._files.path(begun, "times"), np.uint8, entries)
        index.reload()
        searcher = index.searcher()
        if searcher.num_docs < count:
            raise ValueError(f"{searcher.num_docs} of {count} texts are in the index")
        order = np.argsort(keys, kind="stable")
        counts = Counts(stems, times, ends, lengths)
        exact = bool(stamp["exact"]) and searcher.num_docs == count
        return Opened(state, begun, index, searcher, keys, keys[order], order, counts, exact)


def key_of(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big", signed=True)


def seen_of(opened: Opened, keys: NDArray[np.int64]) -> Seen:
    """How words are weighed for readers who see the texts of these ascending keys."""
    import numpy as np

    if not len(opened.ascending):
        return counting.seen(opened.counts, np.empty(0, np.int64), exact=opened.exact)
    at = np.minimum(np.searchsorted(opened.ascending, keys), len(opened.ascending) - 1)
    visible = opened.numbers[at[opened.ascending[at] == keys]]
    return counting.seen(opened.counts, visible, exact=opened.exact)


def _best(
    opened: Opened,
    terms: Sequence[str],
    wanted: int,
    prefix: str,
    blocks: Sequence[int] | None,
    seen: Seen,
) -> Best:
    import numpy as np
    import tantivy

    groups = _groups(opened, seen, terms, prefix)
    if not groups:
        return Best(np.empty(0, np.int64), np.empty(0), 0.0, True)
    asked = list(dict.fromkeys(word for group in groups for word in group))
    place = {word: number for number, word in enumerate(asked)}
    having, in_all = _having(opened, seen, asked)
    weights = [counting.weight(number, seen.texts) for number in having.tolist()]
    query = _query(opened, groups, dict(zip(asked, zip(weights, in_all.tolist(), strict=True), strict=True)))
    if blocks is not None:
        named = tantivy.Query.term_set_query(_schema(), _BLOCK, blocks)
        must = tantivy.Occur.Must
        passing = tantivy.Query.const_score_query(named, 0.0)
        query = tantivy.Query.boolean_query([(must, query), (must, passing)])
    hits = opened.searcher.search(query, wanted, count=False).hits
    found = opened.searcher.fast_field_values(_NUMBER, [address for _, address in hits])
    at = np.array(found, np.int64)
    # Beyond the stamp are entries of a writer that has not ended, or was killed.
    at = at[at < len(opened.keys)]
    scores = counting.scores(
        opened.counts,
        seen,
        at,
        [hashed(word) for word in asked],
        weights,
        [[place[word] for word in group] for group in groups],
    )
    keys = opened.keys[at]
    order = np.lexsort((keys, -scores))
    beyond = hits[-1][0] * seen.widening if hits else 0.0
    return Best(keys[order], scores[order], beyond, len(hits) < wanted)


def _groups(opened: Opened, seen: Seen, terms: Sequence[str], prefix: str) -> list[list[str]]:
    """The words to look for; of each group the best one counts."""
    groups: list[list[str]] = []
    for term in terms:
        if len(term) == 1 and is_cjk(term):
            # One character alone is in the index only as the first of a pair (or the last of its run).
            groups += [[word] for word in _beginning_with(opened, seen, term)]
        else:
            groups += [[word] for word in stemmed(term)]
    if prefix:
        endings = dict.fromkeys([*stemmed(prefix), *_beginning_with(opened, seen, prefix)])
        groups += [list(endings)] if endings else []
    return groups


def _query(opened: Opened, groups: Sequence[Sequence[str]], weights: Mapping[str, tuple[float, int]]) -> Any:
    import tantivy

    def weighed(word: str) -> Any:
        its_weight, having = weights[word]
        odds = (opened.searcher.num_docs - having + 0.5) / (having + 0.5)
        return tantivy.Query.boost_query(_term(word), its_weight / math.log1p(max(odds, 1e-9)))

    clauses = [
        weighed(group[0])
        if len(group) == 1
        else tantivy.Query.disjunction_max_query(list(map(weighed, group)))
        for group in groups
    ]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in clauses])


def _having(opened: Opened, seen: Seen, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many of the visible texts have each word, and how many in the index."""
    import numpy as np

    stems = np.array([hashed(word) for word in words], np.uint32)
    in_index = np.array([opened.searcher.doc_freq(_BODY, word) for word in words], np.int64)
    counted = in_index
    if not opened.exact:
        # The index goes on counting what it deleted.
        counted = np.array([np.count_nonzero(opened.counts.stems == stem) for stem in stems], np.int64)
    return counting.having(seen, stems, counted), in_index


def _beginning_with(opened: Opened, seen: Seen, prefix: str) -> list[str]:
    plain = words(prefix).strip()
    if not plain:
        return []
    listed = opened.searcher.terms_with_prefix(_BODY, plain, limit=ENDINGS_LOOKED_AT)
    found = [word for word, _ in listed]
    if found:
        having = dict(zip(found, _having(opened, seen, found)[0].tolist(), strict=True))
        return sorted((word for word in found if having[word]), key=lambda word: (-having[word], word))[
            :MOST_ENDINGS
        ]
    # More than the stem was typed: `configura` is in the index as `configur`.
    stems = [plain[:length] for length in range(len(plain) - 1, SHORTEST_STEM - 1, -1)]
    there = _having(opened, seen, stems)[0].tolist() if stems else []
    return [next((stem for stem, having in zip(stems, there, strict=True) if having), plain)]


def _term(word: str) -> Any:
    import tantivy

    return tantivy.Query.term_query(_schema(), _BODY, word, index_option="freq")


@cache
def _spaces() -> Any:
    """Texts come to the index as stems already."""
    import tantivy

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


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
