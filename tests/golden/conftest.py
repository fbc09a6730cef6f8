"""`pytest tests/golden --rewrite-golden` writes what the code answers today; read the diff then."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write the expected files anew")


@pytest.fixture
def rewrite_golden(request: pytest.FixtureRequest) -> bool:
    # Known only when this folder was named on the command line.
    return bool(request.config.getoption("--rewrite-golden", default=False))
