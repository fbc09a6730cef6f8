"""The index of words: a follower of the texts on tantivy, beside the store.

Texts are added and never changed, so the index only grows; one that holds more texts that are gone than texts
that are there is made again. A text has a number here, its place in the file of keys. The stamp says how many
of them count: a writer that was killed leaves entries beyond it, which its successor deletes first.

Words are cut by `words`, as PostgreSQL's index has them, and stemmed by `stems`. The heading path stands five
times before the text: as one field it ranks as FTS5 does with five times the weight for headings. Beside the
index stand the words of each text (`counts.py`), by which what the index proposes is scored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rowen.adapters.store.shared.search.arrays.library import needs_numpy, np
from rowen.adapters.store.shared.search.counts import MOST_TIMES, Counts, Seen
from rowen.adapters.store.shared.search.files import WORDS_FORMAT, Stamped, append, mapped, writing
from rowen.adapters.store.shared.search.proposals import (
    BLOCK,
    BLOCK_BITS,
    BODY,
    NUMBER,
    Best,
    Opened,
    best,
    numbers_of,
    schema,
    seen_of,
)
from rowen.adapters.store.shared.search.seen.view import distinct
from rowen.adapters.store.shared.search.spelt import Near, beside, near
from rowen.adapters.store.shared.search.stems import FORWARDS, Collected
from rowen.adapters.store.shared.slices import said_as_far_as_known
from rowen.adapters.store.shared.transaction import Transaction
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

MOST_BLOCKS = 1_024
"""A filter of more is not worth naming: what does not pass is left out afterwards."""
DEEPER = 4
MEMORY = 32_000_000
"""Of the writer."""


class Text(NamedTuple):
    key: int
    """The beginning of its hash, see `seen/view.py`."""
    heading_path: str
    text: str


def texts_of(db: Transaction, passages: list[int]) -> list[Text]:
    """As they are indexed; without those that no content says any more."""
    found = said_as_far_as_known(db, passages).values()
    return [Text(key_of(one.hash), one.heading_path, one.text) for one in found]


class WordIndex:
    """Safe to share between threads."""

    def __init__(self, folder: Path, *, can_write: bool = True) -> None:
        self._files = Stamped(folder, "words", format=WORDS_FORMAT)
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
        opened = self.refresh()
        if opened is None or not len(opened.ascending):
            return np.arange(len(keys))
        at = np.minimum(np.searchsorted(opened.ascending, keys), len(opened.ascending) - 1)
        return np.flatnonzero(opened.ascending[at] != keys)

    def not_in(self, passages: Mapping[int, bytes]) -> list[int]:
        """Of passages, each with its hash, those whose texts are not in the index."""
        ids = np.array(list(passages), np.int64)
        keys = np.array([key_of(digest) for digest in passages.values()], np.int64)
        order = np.argsort(keys, kind="stable")
        return sorted(ids[order[self.missing(keys[order])]].tolist())

    def __len__(self) -> int:
        return len(opened.keys) if (opened := self.refresh()) else 0

    @property
    def blocks(self) -> int:
        return (len(self) >> BLOCK_BITS) + 1

    def blocks_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        opened = self.refresh()
        return distinct(numbers_of(opened, keys) >> BLOCK_BITS) if opened else np.empty(0, np.int64)

    def best(
        self,
        terms: Sequence[str],
        wanted: int,
        *,
        prefix: str = "",
        blocks: Sequence[int] | None = None,
        seen: Callable[[Opened], Seen] | None = None,
        passing: Callable[[Opened], NDArray[np.bool_]] | None = None,
    ) -> Best | None:
        """So many texts as the index proposes, scored by what readers see: by default all. None: unusable.

        Of those that are proposed, only what is `passing` is wanted.
        """

        def ranked(opened: Opened) -> Best:
            weighed_by = seen(opened) if seen else seen_of(opened, opened.ascending)
            chosen = passing(opened) if passing else None
            return best(opened, terms, wanted, prefix, blocks, weighed_by, chosen)

        return self._asked(ranked)

    def near(self, word: str, seen: Callable[[Opened], Seen]) -> Near | None:
        """What a word that no reader sees may mean. None: nothing, or the index is unusable."""
        return self._asked(lambda opened: near(opened, seen(opened), word))

    def beside(
        self,
        name: str,
        unseen: Set[str],
        visible: Callable[[Sequence[int]], Sequence[int]],
    ) -> list[int]:
        """Visible texts that may have the name that a mistyped one means."""
        return self._asked(lambda opened: beside(opened, name, unseen, visible)) or []

    def _asked(self, ask: Callable[[Opened], T]) -> T | None:
        opened = self.refresh()
        if opened is None:
            return None
        try:
            return ask(opened)
        except BaseException as exc:
            if not _damaged(exc):
                raise
            self._opened, self.broken = None, True
            return None

    def add(self, texts: Iterable[Text]) -> bool:
        """Index these texts, unless another process is writing. They count from now on, all of them."""
        needs_numpy()
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
        import tantivy

        opened = None if self.broken else self.refresh()
        if opened is None:
            begun, held = self._files.begin(), np.empty(0, np.int64)
            folder = self._files.path(begun, "index")
            folder.mkdir()
            index = tantivy.Index(schema(), str(folder))
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
                    tantivy.Query.range_query(schema(), NUMBER, tantivy.FieldType.Integer, len(held), 2**62)
                )
            for number, one in enumerate(new, len(held)):
                document = tantivy.Document()
                document.add_integer(NUMBER, number)
                document.add_integer(BLOCK, number >> BLOCK_BITS)
                document.add_text(BODY, collected.add(one.heading_path, one.text))
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
        different, places = np.unique(keys, return_index=True)
        return places[self.missing(different)] if self._opened else places

    def _open(self, state: tuple[int, int]) -> Opened:
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
            mapped(self._files.path(begun, kind), np.int64, count) for kind in ("keys", "ends", "lengths")
        )
        entries = int(stamp["entries"])
        stems = mapped(self._files.path(begun, "stems"), np.uint32, entries)
        times = mapped(self._files.path(begun, "times"), np.uint8, entries)
        index.reload()
        searcher = index.searcher()
        if searcher.num_docs < count:
            raise ValueError(f"{searcher.num_docs} of {count} texts are in the index")
        ascending, order = _sorted(keys, held if held is not None and held.begun == begun else None)
        counts = Counts(stems, times, ends, lengths)
        exact = bool(stamp["exact"]) and searcher.num_docs == count
        german = bool(searcher.terms_with_prefix(BODY, FORWARDS, limit=1))
        return Opened(state, begun, index, searcher, keys, ascending, order, counts, exact, german)


def _sorted(keys: NDArray[np.int64], held: Opened | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys ascending, and the number of each. What was sorted before is not sorted again."""
    before = len(held.keys) if held is not None else 0
    if held is None or before > len(keys) or type(held.ascending) is not type(keys):
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    added = keys[before:]
    order = np.argsort(added, kind="stable")
    at = np.searchsorted(held.ascending, added[order], side="right")
    return np.insert(held.ascending, at, added[order]), np.insert(held.numbers, at, before + order)


def key_of(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big", signed=True)


@cache
def _spaces() -> Any:
    """Texts come to the index as stems already."""
    import tantivy

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def _damaged(exc: BaseException) -> bool:
    """How the reading of damaged files ends; the library's panics are no `Exception`."""
    return isinstance(exc, Exception) or type(exc).__name__ == "PanicException"
