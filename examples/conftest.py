"""The examples as if they were installed, so that `make test` runs their tests without installing anything.

Their own tests know nothing of this: with `pip install .` in the folder of an example they run the same way.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.plugins import on_path, write_package

EXAMPLES = Path(__file__).parent


@pytest.fixture(autouse=True)
def installed(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """The example that a test belongs to, found by this process and by those it starts."""
    example = EXAMPLES / request.path.relative_to(EXAMPLES).parts[0]
    project = tomllib.loads((example / "pyproject.toml").read_text("utf-8"))["project"]
    folder = tmp_path_factory.mktemp("site-packages")
    write_package(folder, project["name"], project["entry-points"], version=project["version"])
    path = [str(folder), str(example / "src"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    for name in [name for name in os.environ if name.startswith("ROWEN_")]:
        monkeypatch.delenv(name)
    with on_path(folder, example / "src"):
        yield
