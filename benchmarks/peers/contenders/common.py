"""What every contender's script needs: its arguments, the model, and how it says what it did.

These scripts run in environments where Rowen is not installed: they import their own tool and this module
only. The model is the one that Rowen embeds with by default, so that vectors cost the same everywhere.
"""

from __future__ import annotations

import argparse
import json
import struct
from pathlib import Path
from typing import Any

CHUNK = 1000
"""Characters of a chunk, without overlap: about what a section of Rowen has."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True, help="the root of the site")
    parser.add_argument("--folder", type=Path, required=True, help="the files that the site is served from")
    parser.add_argument("--state", type=Path, required=True, help="what is kept from one run to the next")
    parser.add_argument("--model", type=Path, help="the folder of the weights and the tokenizer")
    return parser.parse_args()


def addresses(address: str, folder: Path) -> list[str]:
    """Every page, for those who do not follow links."""
    return [address + path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html"))]


def said(**counts: int) -> None:
    """The last line of standard output is read by the benchmark."""
    print(json.dumps(counts), flush=True)


class Model:
    """One fixed vector a token, averaged and normalised. Counts the texts it embeds."""

    def __init__(self, folder: Path) -> None:
        import numpy as np
        from tokenizers import Tokenizer

        weights = folder / "weights" / "l2_supercat_256.safetensors"
        with weights.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        (tensor,) = (one for name, one in header.items() if name != "__metadata__")
        kind = {"F16": np.float16, "F32": np.float32}[tensor["dtype"]]
        start = 8 + length + tensor["data_offsets"][0]
        self._table = np.memmap(weights, kind, "r", start, tuple(tensor["shape"]))
        self._tokenizer = Tokenizer.from_file(
            str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(2048)
        self.embedded = 0

    def embed(self, texts: list[str]) -> Any:
        import numpy as np

        self.embedded += len(texts)
        vectors = np.zeros((len(texts), self._table.shape[1]), np.float32)
        for row, encoded in enumerate(self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)):
            if encoded.ids:
                vectors[row] = self._table[encoded.ids].mean(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, 1e-12)
