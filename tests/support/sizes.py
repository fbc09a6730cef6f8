"""Cases of a test that `make torture` alone runs: more of the same, beside those that `make test` runs."""

from __future__ import annotations

from typing import Any

import pytest


def in_torture(*values: Any) -> list[Any]:
    """Give them to `parametrize` behind the others: `[0, 5, *in_torture(1, 10)]`."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.torture)
        for value in values
    ]
