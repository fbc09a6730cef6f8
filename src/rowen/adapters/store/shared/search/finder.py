"""Ranked texts of what readers see: the view, the index of words and the vectors, in step with the store.

What is behind is caught up at once when it is little, else in a thread of its own, and the caller is told
that the index cannot say. Nothing here is the truth: without its folder, searches take longer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rowen.adapters.store.shared.search.arrays.library import needs_numpy, np
from rowen.adapters.store.shared.search.counts import Seen
from rowen.adapters.store.shared.search.cut import Scored, deep_enough, unranked, visible
from rowen.adapters.store.shared.search.index import DEEPER, MOST_BLOCKS, WordIndex, texts_of
from rowen.adapters.store.shared.search.matrix import VectorMatrix
from rowen.adapters.store.shared.search.proposals import BLOCK_BITS, Opened, marked, seen_of
from rowen.adapters.store.shared.search.seen import view as views
from rowen.adapters.store.shared.search.seen.saved import SavedView
from rowen.adapters.store.shared.search.seen.view import Allowed, View
from rowen.adapters.store.shared.search.spelt import whole_word
from rowen.adapters.store.shared.search.words import words
from rowen.adapters.store.shared.transaction import Transaction
from rowen.core.search.symbols import names_of_parts, nearest_name
from rowen.errors import StoreBusy

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from tempfile import TemporaryDirectory

    from numpy.typing import NDArray

AT_ONCE = 300
"""Texts that a search indexes itself, in a few hundredths of a second."""
BATCH = 5_000
"""Texts that are indexed together; a process that ends waits for no more."""
WORTH_SAVING = 5_000
"""Sections or vectors that are worth a file."""
LONGEST_WAIT_S = 30.0
"""For another process that writes the index."""
KEPT_VIEWS = 4
"""Of older generations."""
SPARE = 56
"""Texts that the index proposes beyond those that are needed: it scores a little differently."""
MOST_EQUAL = 4_000
"""So far a list is read to have all texts that are as good as its last one; of more, any are taken."""
MOST_CHOSEN = 60_000
"""Vectors of a filter that are compared by themselves; for more, all are compared."""
WORTH_CHOOSING = 4
"""Of how many texts one must pass a filter for the rest to be left out beforehand, and not afterwards."""
MOSTLY_GONE = 2
"""How many times as many texts as readers see may be in a follower before it is made again."""

T = TypeVar("T")


class Reads(Protocol):
    def __call__(self, work: Callable[[Any], T], /) -> T: ...


class Finder:
    """Safe to share between threads."""

    def __init__(
        self,
        read: Reads,
        folder: Path | None,
        *,
        can_write: bool = True,
        most_at_once: int | None = None,
        waits_for: int = 0,
    ) -> None:
        """`most_at_once` vectors are loaded by a search itself, where the database can compare them too.

        A search indexes up to `waits_for` texts itself, where the database has no index of words.
        """
        self._read = read
        self.folder = folder
        self._can_write = can_write and folder is not None
        self._most_at_once = most_at_once
        self._waits_for = waits_for
        self.worth_indexing = AT_ONCE if waits_for else WORTH_SAVING
        """Texts of a run that are worth an index, though no search has come yet."""
        self._words = WordIndex(folder) if folder else None
        self._saved = SavedView(folder) if folder else None
        self._matrices: dict[int, VectorMatrix] = {}
        self._guard = threading.Lock()
        self._follows = threading.Lock()
        self._view: View | None = None
        self._then: dict[views.Token, View] = {}
        self._missing: tuple[object, int] = (None, 0)
        self._thread: ThreadPoolExecutor | None = None
        self._following: Future[None] | None = None
        self._closed = threading.Event()
        self._temporary: TemporaryDirectory[str] | None = None

    @property
    def words(self) -> WordIndex | None:
        return self._words

    @property
    def folder_to_write(self) -> Path | None:
        return self.folder if self._can_write else None

    @property
    def is_used(self) -> bool:
        """A search has begun to keep files beside the store."""
        return self._words is not None and self._words.is_there

    def view(self, db: Transaction, token: views.Token | None = None) -> View:
        """What this snapshot sees, by its pointers as far as they were read."""
        token = token or db.rows("pointers")[0]
        view = self._view
        if view is not None and view.token == token:
            return view
        with self._guard:
            view = self._view
            if view is None:
                view = self._saved.load(db) if self._saved else None
            if view is None or view.token != token:
                view = views.updated(db, view or views.nothing(), token)
            # A snapshot from before a later one's pointers sees its own view, and takes it along.
            if self._view is None or max(token) >= max(self._view.token):
                self._view = view
        if self._can_write and view.unsaved >= WORTH_SAVING:
            self.wake()
        return view

    def view_then(self, db: Transaction, now: View, shown: Mapping[int, int]) -> View:
        """What readers saw when these generations of sources were visible: all but what differs is known."""
        token = ("then", *sorted(shown.items()), now.token)
        with self._guard:
            view = self._then.get(token)
            if view is None:
                view = self._then[token] = views.updated(db, now, token, shown)
                if len(self._then) > KEPT_VIEWS:
                    del self._then[next(iter(self._then))]
        return view

    def keyword(
        self,
        db: Transaction,
        view: View,
        allowed: Allowed | None,
        terms: Sequence[str],
        prefix: str,
        depth: int,
        *,
        patiently: bool = False,
    ) -> Scored | None:
        """The best visible texts with any of the words. None: the index cannot say.

        With `patiently` the caller waits for what is missing in the index, however much it is.
        """
        index = self._words
        if patiently and not self._can_write and (index is None or len(index.missing(view.keys))):
            index = self._aside(db, view)
        elif index is None or not self._is_complete(db, view, index, patiently):
            return None
        wanted, blocks = depth, None
        if allowed is not None:
            if not len(allowed.slots):
                return unranked()
            if len(allowed.slots) * WORTH_CHOOSING <= len(view.keys):
                keys = view.keys[allowed.slots]
                named = allowed.once("blocks", index.refresh(), lambda: index.blocks_of(keys).tolist())
                if len(named) <= min(MOST_BLOCKS, index.blocks / 2):
                    blocks = named
            among = len(blocks) << BLOCK_BITS if blocks is not None else len(view.keys)
            wanted = deep_enough(depth, len(allowed.slots), among)
        wanted += SPARE
        while True:
            found = index.best(
                terms,
                wanted,
                prefix=prefix,
                blocks=blocks,
                seen=_seen_by(view),
                passing=_passing(view, allowed) if allowed is not None else None,
            )
            if found is None:
                return None
            listed = visible(view, allowed, found.keys, found.scores, depth)
            enough = len(listed.slots) >= depth
            if found.all_there_are or (enough and (listed.scores[-1] > found.beyond or wanted >= MOST_EQUAL)):
                return listed._replace(unseen=found.unseen)
            wanted *= 2 if enough else DEEPER

    def spelt(
        self, db: Transaction, view: View, unseen: Sequence[str], names: Sequence[str]
    ) -> dict[str, str]:
        """For names and words that no visible text has, the nearest that one has."""
        index, found = self._words, dict[str, str]()
        if index is None:
            return found
        for name in names:
            keys = index.beside(name, set(unseen), lambda keys: _visible(view, keys))
            known = (one for text in _texts_with(db, view, keys) for one in names_of_parts(text))
            if (meant := nearest_name(name, known)) is not None and meant.lower() != name.lower():
                found[name] = meant
        # The words of a name that was repaired as a whole are not repaired again.
        repaired = {word for name in found for word in words(name).split()}
        for word in dict.fromkeys(unseen):
            near = index.near(word, _seen_by(view)) if word not in repaired else None
            if near is not None:
                written = whole_word(word, near.stem, _texts_with(db, view, near.keys))
                if written is not None:
                    found[word] = written
        return found

    def dense(
        self,
        db: Transaction,
        view: View,
        allowed: Allowed | None,
        model_id: int,
        vector: bytes,
        depth: int,
        *,
        patiently: bool = False,
    ) -> Scored | None:
        """The nearest visible texts. None: too many vectors are not here yet to wait for."""
        matrix = self.matrix(db, model_id, len(vector))
        if self._most_at_once is not None and not matrix.is_loaded and not patiently:
            matrix.open()
            if len(view.keys) - len(matrix) > self._most_at_once:
                self.wake()
                return None
        matrix.refresh(db, view.token, view.keys, view.passages_of)
        if self._can_write and matrix.loose >= WORTH_SAVING:
            self.wake()
        among, wanted = None, depth
        if allowed is not None:
            slots = allowed.slots
            if len(slots) <= MOST_CHOSEN and len(slots) * WORTH_CHOOSING <= len(matrix):
                among = allowed.once("rows", matrix.state, lambda: matrix.rows_of(view.keys[slots]))
                allowed = None
            elif len(slots):
                wanted = deep_enough(depth, len(slots), len(view.keys))
        while True:
            keys, cosines, all_there_are = matrix.nearest(vector, wanted, among)
            listed = visible(view, allowed, keys, cosines, depth)
            if len(listed.slots) >= depth or all_there_are:
                return listed
            wanted *= DEEPER

    def matrix(self, db: Transaction, model_id: int, dimensions: int) -> VectorMatrix:
        matrix = self._matrices.get(model_id)
        if matrix is None:
            with self._guard:
                names = {row[0]: f"{row[2]}-{row[3]}" for row in db.rows("models_all")}
                matrix = self._matrices.setdefault(
                    model_id,
                    VectorMatrix(model_id, dimensions, self.folder, name=names.get(model_id, "")),
                )
        return matrix

    def wake(self) -> None:
        """Catch up in a thread, unless one is at it."""
        needs_numpy()
        if self._closed.is_set():
            return
        with self._guard:
            if self._following is None or self._following.done():
                from concurrent.futures import ThreadPoolExecutor

                # One thread for good: each has a connection of its own.
                self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="rowen-follow")
                self._following = self._thread.submit(self.follow)

    def close(self) -> None:
        """Ends after the batch that is being written."""
        self._closed.set()
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        if self._temporary is not None:
            self._temporary.cleanup()

    # below: runs in a thread of its own, or of the caller's

    def follow(self) -> None:
        """Take in what is missing of what readers see, and put on the disk what is worth it.

        A failure costs later searches some time, and other work nothing.
        """
        # A caller that follows wakes the thread too: the index has one writer, and both end with all of it.
        with self._follows:
            self._follow()

    def _follow(self) -> None:
        try:
            view = self._read(self.view)
            for matrix in list(self._matrices.values()):
                self._read(lambda db, one=matrix: one.refresh(db, view.token, view.keys, view.passages_of))  # type: ignore[misc]
            if self._can_write and self._words is not None:
                self._index_seen(self._words, view)
                self._save(view)
        except Exception as exc:
            if not self._closed.is_set():
                _not_followed(exc)

    def follow_ahead(self, passages: Mapping[int, bytes]) -> None:
        """Index passages (with their hashes) before readers see them, so that no search lacks the index."""
        if self._can_write and self._words is not None:
            try:
                self._index(self._words, self._words.not_in(passages))
            except Exception as exc:
                _not_followed(exc)

    def tidy(self) -> None:
        """Leave nothing of texts that are not in the store any more."""
        if not self._can_write or not self.is_used or self._words is None:
            return
        view = self._read(self.view)
        if len(self._words) > len(view.keys):
            self._words.forget()
        for matrix in list(self._matrices.values()):
            if len(matrix) > len(view.keys):
                matrix.store(keep=view.keys)
        self.follow()

    def _index_seen(self, index: WordIndex, view: View) -> None:
        if len(index) > MOSTLY_GONE * len(view.keys) + WORTH_SAVING:
            index.forget()
        self._index(index, view.passages_of(index.missing(view.keys)).tolist())

    def _index(self, index: WordIndex, passages: list[int]) -> None:
        for start in range(0, len(passages), BATCH):
            if self._closed.is_set():
                return
            some = passages[start : start + BATCH]
            if not index.add(self._read(lambda db, some=some: texts_of(db, some))):  # type: ignore[misc]
                return

    def _save(self, view: View) -> None:
        for matrix in list(self._matrices.values()):
            if self._closed.is_set():
                return
            if matrix.loose >= WORTH_SAVING:
                matrix.store()
        if self._saved and view.unsaved >= WORTH_SAVING and self._read(lambda db: self._saved.save(db, view)):  # type: ignore[union-attr]
            with self._guard:
                if self._view is view:
                    self._view = replace(view, unsaved=0)

    def _is_complete(self, db: Transaction, view: View, index: WordIndex, patiently: bool) -> bool:
        opened = index.refresh()
        known = (view.token, opened and opened.state)
        if self._missing[0] != known:
            self._missing = (known, len(index.missing(view.keys)))
        if not self._missing[1] and opened is not None:
            return True
        if not len(view.keys) or not self._can_write:
            return False
        if patiently:
            self._wait_for(db, view, index)
            return True
        missing = index.missing(view.keys)
        if len(missing) > max(AT_ONCE, self._waits_for):
            self.wake()
            return False
        try:
            if len(missing) > AT_ONCE:
                self._wait_for(db, view, index)
            else:
                index.add(texts_of(db, view.passages_of(missing).tolist()))
        except Exception as exc:
            _not_followed(exc)
        return not len(index.missing(view.keys))

    def _wait_for(self, db: Transaction, view: View, index: WordIndex) -> None:
        """Index what is missing, after another process that is writing. Raises `StoreBusy` after a while."""
        until = time.monotonic() + LONGEST_WAIT_S
        while len(missing := index.missing(view.keys)[:BATCH]):
            if index.add(texts_of(db, view.passages_of(missing).tolist())):
                until = time.monotonic() + LONGEST_WAIT_S
            elif time.monotonic() > until or self._closed.wait(0.1):
                raise StoreBusy(
                    "search: another process is writing the index of words",
                    hint="try again in a moment",
                )

    def _aside(self, db: Transaction, view: View) -> WordIndex:
        """An index of this process alone, where none may be kept beside the store."""
        with self._guard:
            if self._temporary is None:
                from tempfile import TemporaryDirectory

                self._temporary = TemporaryDirectory(prefix="rowen-search-")
            index = WordIndex(Path(self._temporary.name))
        self._wait_for(db, view, index)
        return index


def _texts_with(db: Transaction, view: View, keys: Sequence[int]) -> list[str]:
    """What readers see of the texts with these keys."""
    slots = view.slots_of_keys(np.array(_visible(view, keys), np.int64))
    texts = texts_of(db, view.passages_of(slots).tolist())
    return [f"{one.heading_path} {one.text}" for one in texts]


def _visible(view: View, keys: Sequence[int]) -> list[int]:
    found = np.array(keys, np.int64)
    visible: list[int] = found[view.slots_of_keys(found) >= 0].tolist()
    return visible


def _seen_by(view: View) -> Callable[[Opened], Seen]:
    return lambda opened: view.once("seen", opened, lambda: seen_of(opened, view.keys))


def _passing(view: View, allowed: Allowed) -> Callable[[Opened], NDArray[np.bool_]]:
    return lambda opened: allowed.once("marked", opened, lambda: marked(opened, view.keys[allowed.slots]))


def _not_followed(exc: Exception) -> None:
    import logging  # takes long to import, and most searches have nothing to say

    logging.getLogger("rowen.search").warning("search_not_followed error=%r", str(exc))
