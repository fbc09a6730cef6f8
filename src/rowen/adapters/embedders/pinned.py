"""Files of a model inside an installed package, each known by its digest.

Vectors of other weights must never meet ours under the same name.
"""

from __future__ import annotations

from pathlib import Path

from rowen.core import hashing
from rowen.errors import EmbedderUnavailable


def read(path: Path, sha256: str, *, model: str, package: str) -> bytes:
    """The bytes of a file, if it is the file we know; `package` is what a person installs to have it."""
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise EmbedderUnavailable(
            f"model `{model}`: cannot read `{path}`: {exc.strerror or exc}",
            hint=f"reinstall `{package}`",
            model=model,
            path=str(path),
        ) from exc
    found = hashing.of_bytes(data).hex()
    if found != sha256:
        raise EmbedderUnavailable(
            f"model `{model}`: `{path}` has digest `{found[:16]}`, expected `{sha256[:16]}`",
            hint=f"install the version of `{package}` that this release of Rowen was made with",
            model=model,
            path=str(path),
        )
    return data
