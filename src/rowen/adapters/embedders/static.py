"""The default model: one fixed vector a token, averaged. No network, no neural network.

The weights and the tokenizer are two data files inside the `wordllama` wheel, read without importing that
package: importing it reconfigures logging, and its loader looks for downloads. Both files are pinned by their
digest, because vectors of other weights must never meet ours under the same name.

The texts of a harvest are embedded in child processes, those of a search or of a small change in a thread of
this one: a child costs as much to start as some hundred texts cost to embed.
"""

from __future__ import annotations

import importlib.util
import json
import math
import mmap
import struct
import sys
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowen.adapters.embedders import pinned, token_table
from rowen.errors import EmbedderUnavailable, TransientError
from rowen.eventloop import in_thread
from rowen.patterns import pattern
from rowen.ports.embedder import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rowen.adapters.children.pool import ChildPool

WEIGHTS = "weights/l2_supercat_256.safetensors"
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TOKENIZER_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"

MAX_TOKENS = 2048
"""The rest of a longer text does not count; passages are a few hundred tokens."""
MAX_CHARACTERS = 8 * MAX_TOKENS

BATCH = 256
WORTH_A_CHILD = 128
"""So many texts in one call are the beginning of a harvest; fewer are embedded by the table of tokens."""
SHORT = 200
"""Characters of a question that is embedded at once."""

MODEL = Model(
    name="wordllama-l2-supercat-256",
    digest=WEIGHTS_SHA256[:16],
    dimensions=256,
    alpha=0.3,
    related_from=0.54,
)


class StaticEmbedder:
    """Loads when first used; may be called from several tasks at once."""

    waits = False

    def __init__(self, folder: Path | None = None, *, children: int = 0, cache: Path | None = None) -> None:
        """`folder` holds the two files; by default the installed wheel's. `cache` is for what may be lost."""
        self.model = MODEL
        self.batch_size = BATCH
        self.spec: Mapping[str, Any] = {"provider": "static"}
        self._folder = folder
        self._table = cache / f"{MODEL.name}.tokens" if cache else None
        self._loading = threading.Lock()
        self._weights: Weights | None = None
        self._by_table: Weights | None = None
        self._most_children = children
        self._children: ChildPool | None = None

    async def close(self) -> None:
        if self._children is not None:
            await self._children.close()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self._children is None and self._most_children and len(texts) >= WORTH_A_CHILD:
            self._children = self._pool()
        if self._children is not None:
            vectors = await self._embed_in_child(self._children, texts)
            if vectors is not None:
                return vectors
        return await in_thread(self._embed_few if len(texts) < WORTH_A_CHILD else self._embed, texts)

    async def embed_query(self, text: str) -> bytes:
        if len(text) <= SHORT and (weights := self._weights or self._from_table()):
            # A tenth of a millisecond: to hand it to a thread takes longer.
            return weights.question(text)
        return await in_thread(self._question, text)

    def _question(self, text: str) -> bytes:
        weights = self._few() or self._loaded()
        # Half of a surrogate pair has no bytes, as in the frames of children.
        return weights.question(text.encode("utf-8", "replace").decode())

    def _embed_few(self, texts: Sequence[str]) -> list[bytes]:
        weights = self._few()
        if weights is None:
            return self._embed(texts)
        # As above.
        return weights.embed([one.encode("utf-8", "replace").decode() for one in texts])

    def _few(self) -> Weights | None:
        """To load the tokenizer takes as long as to embed some dozen texts by the table."""
        if self._weights is not None or self._table is None:
            return None
        if self._from_table() is None:
            leave_table(self._folder or _wheel_folder(), self._table)
        return self._from_table()

    def _from_table(self) -> Weights | None:
        """For a few texts, when a process before this one has left its table."""
        if self._by_table is None and self._table is not None:
            self._by_table = Weights.from_table(self._folder or _wheel_folder(), self._table)
        return self._by_table

    def _pool(self) -> ChildPool:
        from rowen.adapters.children.pool import ChildPool

        folder = str(self._folder or _wheel_folder())
        command = (sys.executable, "-P", "-m", "rowen.adapters.embedders.worker", folder)
        return ChildPool(command, self._most_children, who="embedder")

    async def _embed_in_child(self, children: ChildPool, texts: Sequence[str]) -> list[bytes] | None:
        """None when two children in a row fail: then this process embeds, and says what is wrong."""
        from rowen.adapters.children.pool import ChildDied
        from rowen.adapters.embedders import worker

        request = worker.request(texts)
        for _ in range(2):
            try:
                return await children.ask(
                    request,
                    lambda payload: worker.read_answer(payload, len(texts)),
                    timeout_s=worker.TIMEOUT_S,
                )
            except (ChildDied, TimeoutError, TransientError):
                continue
        return None

    def _loaded(self) -> Weights:
        # One thread loads while the others wait; later calls see the finished value without the lock.
        weights = self._weights
        if weights is None:
            with self._loading:
                weights = self._weights = self._weights or Weights.from_folder(
                    self._folder or _wheel_folder()
                )
        return weights

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        weights = self._loaded()
        vectors: list[bytes] = []
        for start in range(0, len(texts), BATCH):
            vectors += weights.embed(texts[start : start + BATCH])
        return vectors


class _Words(dict[str, bytes]):
    """Token ids by word, learnt from the tokenizer as words are met.

    As 64-bit numbers in their bytes: those of a text are joined and looked up without an object for each.
    """

    MOST = 100_000
    LONGEST = 40

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        self._encode = encode

    def __missing__(self, word: str) -> bytes:
        blanks = word.rstrip("0123456789")
        if len(blanks) + 1 < len(word) or (blanks and blanks != word):
            # Digits join nothing.
            parts = (blanks, *word[len(blanks) :]) if blanks else word
            ids = b"".join(self[part] for part in parts)
        else:
            ids = array("q", self._encode(word)).tobytes()
        if len(word) <= self.LONGEST:
            if len(self) >= self.MOST:
                self.clear()
            self[word] = ids
        return ids


class Weights:
    """The vectors of tokens, and how a text becomes tokens."""

    # Text is cut where the tokenizer never joins: no token of its vocabulary holds a letter beside a
    # punctuation mark, a digit beside anything, or a space after anything but spaces. So the token ids are
    # exactly those of the whole text, and most words are looked up instead of tokenized, in half the time of
    # `encode_batch`. It also leaves the tokenizer's thread pool unused: there is no TOKENIZERS_PARALLELISM to
    # set, no warning when a process forks, and a harvest leaves the other cores to its neighbours.
    _words = pattern(
        # Short cuts for what is ASCII and not glued to anything else: the classes of Unicode are slow.
        r" *[A-Za-z]++(?![^\0-\x7f])"
        r"| *[^A-Za-z0-9 \n\x80-\U0010ffff]++(?![^\0-\x7f])"
        r"| *[0-9]{1,4}|\n"
        # Letters, marks, spaces, and each digit or line end for itself.
        r"| *[^\W\d_²]+| *(?:[^\w \n]|[_²])+| +|[^ ]"
    )
    _ascii_words = pattern(r" *[A-Za-z]+| *[^A-Za-z0-9 \n]+| *[0-9]{1,4}|\n| +")
    """The same for a question that is ASCII, and most are: this one takes less to compile."""

    def __init__(self, encode: Callable[[str], list[int]], weights: NDArray[Any] | _Rows) -> None:
        self._ids = _Words(encode)
        self._weights = weights

    @classmethod
    def from_table(cls, folder: Path, table: Path) -> Weights | None:
        """Both files by what was made of them when they were last checked; None when they are others now."""
        stamp = _stamp(folder)
        tokens = token_table.TokenTable.open(table, stamp) if stamp else None
        return cls(tokens.word, _mapped(folder / WEIGHTS)) if tokens else None

    @classmethod
    def from_folder(cls, folder: Path) -> Weights:
        """From the files themselves, which are checked."""
        import numpy as np
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        weights = load(_read(folder / WEIGHTS, WEIGHTS_SHA256))["embedding.weight"]
        tokenizer = Tokenizer.from_buffer(_read(folder / TOKENIZER, TOKENIZER_SHA256))
        # What the library does around its model takes longer than the model does for a word. None of it is
        # left to do: `token_ids` adds the space that this model wants in front of a text, and `<s>` in a page
        # about HTML is text.
        model = tokenizer.model
        # Half precision is how the file is kept small; to add it up costs three times as much.
        return cls(
            lambda word: [token.id for token in model.tokenize(word.replace(" ", "▁"))],
            weights.astype(np.float32),
        )

    def token_ids(self, text: str) -> list[int]:
        return memoryview(self._packed_ids(text)).cast("q").tolist()

    def _packed_ids(self, text: str) -> bytes:
        find = self._ascii_words if len(text) <= SHORT and text.isascii() else self._words
        words = find.findall(" " + text[:MAX_CHARACTERS])
        return b"".join(map(self._ids.__getitem__, words))[: 8 * MAX_TOKENS]

    def question(self, text: str) -> bytes:
        """The vector of a short text, for which numpy is used where it is loaded, and not imported.

        Both ways add in doubles, which hold sums of half precision exactly: they come to the same vector.
        """
        ids = self.token_ids(text) if text else []
        if isinstance(self._weights, _Rows):
            sums = self._weights.sums(ids)
            length = math.sqrt(math.fsum(one * one for one in sums))
            return array("b", [round(one * 127 / (length or 1)) for one in sums]).tobytes()
        import numpy as np

        total = self._weights.take(ids, axis=0).astype(np.float64).sum(axis=0)
        size = math.sqrt(float(np.square(total).sum()))
        return bytes(np.rint(total * 127 / (size or 1)).astype(np.int8).tobytes())

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        import numpy as np

        if isinstance(self._weights, _Rows):
            self._weights = self._weights.array()
        weights = self._weights
        sums = np.zeros((len(texts), MODEL.dimensions), np.float32)
        space = np.empty((MAX_TOKENS, MODEL.dimensions), weights.dtype)
        for row, text in zip(sums, texts, strict=True):
            if text:
                # Text by text: a few hundred rows stay in the processor's cache. One `reduceat` over a whole
                # batch is 15 times slower.
                ids = np.frombuffer(self._packed_ids(text), np.int64)
                rows = weights.take(ids, axis=0, out=space[: len(ids)], mode="clip")
                rows.astype(np.float32, copy=False).sum(axis=0, out=row)
        # A sum has the direction of the mean. A text without tokens keeps the zero vector, near to nothing.
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        sums *= 127 / np.where(lengths > 0, lengths, 1)
        return [vector.tobytes() for vector in np.rint(sums).astype(np.int8)]


def leave_table(folder: Path, table: Path) -> None:
    """For the questions of later processes: the table, if both files are those we know."""
    stamp = _stamp(folder)
    if stamp and token_table.TokenTable.open(table, stamp) is None:
        _read(folder / WEIGHTS, WEIGHTS_SHA256)
        token_table.write(table, stamp, _read(folder / TOKENIZER, TOKENIZER_SHA256))


def _stamp(folder: Path) -> bytes | None:
    return token_table.stamp([folder / WEIGHTS, folder / TOKENIZER], [WEIGHTS_SHA256, TOKENIZER_SHA256])


class _Rows:
    """The vectors in their file, a few of thousands of which a question needs, without numpy."""

    def __init__(self, data: mmap.mmap, begin: int, shape: tuple[int, int]) -> None:
        self._data = data
        self._begin = begin
        self._shape = shape
        self._row = struct.Struct(f"<{shape[1]}e")

    def sums(self, tokens: Sequence[int]) -> list[float]:
        found = [0.0] * MODEL.dimensions
        for token in tokens:
            row = self._row.unpack_from(self._data, self._begin + token * self._row.size)
            found = list(map(add, found, row))
        return found

    def array(self) -> NDArray[np.float16]:
        import numpy as np

        numbers = np.frombuffer(self._data, np.float16, math.prod(self._shape), self._begin)
        return numbers.reshape(self._shape)


def _mapped(path: Path) -> NDArray[np.float16] | _Rows:
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        described = json.loads(file.read(length))["embedding.weight"]
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + length + described["data_offsets"][0]
    rows = _Rows(data, begin, tuple(described["shape"]))
    return rows.array() if "numpy" in sys.modules else rows


def _wheel_folder() -> Path:
    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(
            f"model `{MODEL.name}`: the package `wordllama` that holds its weights is not installed",
            hint="install `wordllama`, or search with `--mode keyword`",
            model=MODEL.name,
        )
    return Path(spec.submodule_search_locations[0])


def _read(path: Path, sha256: str) -> bytes:
    return pinned.read(path, sha256, model=MODEL.name, package="wordllama")
