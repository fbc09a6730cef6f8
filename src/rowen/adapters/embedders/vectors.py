"""A provider's numbers to the bytes of the store, if they can be trusted.

Lists of numbers, or base64 of little-endian 32-bit floats. Every vector is brought to unit length here,
also if the provider promises it: some do not when fewer dimensions are asked for.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BadVectors(ValueError):
    """Says in its message what is wrong with them."""


class WrongLength(BadVectors):
    def __init__(self, found: int, expected: int) -> None:
        super().__init__(f"vectors of {found} numbers, expected {expected}")
        self.found = found


def pack(rows: Sequence[Any], dimensions: int) -> list[bytes]:
    """Signed bytes of unit vectors times 127."""
    import numpy as np

    packed: list[bytes] = []
    for row in rows:
        vector = _numbers(row)
        if len(vector) != dimensions:
            raise WrongLength(len(vector), dimensions)
        # The largest first: the square of a number near the end of the range is infinite.
        largest = float(np.abs(vector).max())
        if not np.isfinite(largest):
            raise BadVectors("a vector with a number that is not finite")
        if largest == 0.0:
            raise BadVectors("a vector of nothing but zeros")
        vector = vector / largest
        unit = vector / np.linalg.norm(vector)
        packed.append(np.rint(unit * 127).astype(np.int8).tobytes())
    return packed


def _numbers(row: Any) -> NDArray[np.float64]:
    import numpy as np

    try:
        if isinstance(row, str):
            return np.frombuffer(base64.b64decode(row, validate=True), "<f4").astype(np.float64)
        if not isinstance(row, list):
            raise BadVectors(f"a {type(row).__name__} where a vector should be")
        vector = np.asarray(row, np.float64)
    except (binascii.Error, ValueError, TypeError, OverflowError) as exc:
        if isinstance(exc, BadVectors):
            raise
        raise BadVectors("a vector that does not consist of numbers") from exc
    if vector.ndim != 1:
        raise BadVectors("a vector that does not consist of numbers")
    return vector
