"""Addresses by content: the one place that says how Rowen hashes.

SHA-256, raw bytes inside, hexadecimal at the doors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def of_bytes(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def of_text(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def of_mapping(values: Mapping[str, object]) -> bytes:
    """The same for the same values in any order."""
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return of_text(canonical)
