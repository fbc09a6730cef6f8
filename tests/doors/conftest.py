"""A command line to call: in this process for most tests, in its own where the process matters."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowen.doors.cli import main
from tests.support.in_process import stay_in_this_process
from tests.support.site import Site, html
from tests.support.stores import a_sqlite_file


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output; more or less than one line fails."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Rowen = Callable[..., Ended]


@pytest.fixture(scope="session", autouse=True)
def servers_end_at_once() -> Iterator[None]:
    """An HTTP server in this process looks every 5 ms whether it should end, and not ten times a second."""

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / 20)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uvicorn.server.asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
        yield


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{a_sqlite_file(tmp_path / 'rowen.db')}"


@pytest.fixture
def rowen(
    db: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Rowen:
    """Call the command line in this process; it converts there too, and the model is loaded once for all."""
    monkeypatch.setenv("ROWEN_DB", db)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ROWEN_FETCH_RETRY_BASE_S", "0")
    stay_in_this_process(monkeypatch)

    def call(*arguments: str) -> Ended:
        capsys.readouterr()
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture
def process(rowen: Rowen) -> Rowen:
    """Call it in a process of its own, with pipes."""

    def call(*arguments: str, **options: Any) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "rowen", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            **options,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session")
def one_site() -> Iterator[Site]:
    """One server for all tests, so that a harvested store can be copied: the addresses in it stay right."""
    with Site() as running:
        yield running


@pytest.fixture
def site(one_site: Site) -> Site:
    """Four small pages about apples, pears, plums and quinces."""
    pages = {"/": html("Orchard", "All the fruit", links=["/apple.html", "/pear.html", "/plum.html"])}
    for fruit in ("apple", "pear", "plum"):
        pages[f"/{fruit}.html"] = fruit_page(fruit)
    one_site.holds_only(pages)
    return one_site


def fruit_page(fruit: str, when: str = "October") -> str:
    return html(
        fruit.title(),
        f"The {fruit} is picked by hand.",
        '<h2 id="storing">Storing</h2>',
        f"Keep every {fruit} cool and dark until {when}.",
    )


@pytest.fixture(scope="session")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store of `orchard` is kept for the next test."""
    return tmp_path_factory.mktemp("harvested") / "rowen.db"


@pytest.fixture
def orchard(rowen: Rowen, site: Site, tmp_path: Path, harvested: Path) -> Site:
    """The site, added as `orchard` and harvested once: by the first test that wants it."""
    store = tmp_path / "rowen.db"
    if harvested.exists():
        shutil.copyfile(harvested, store)
        return site
    assert rowen("add", site.url + "/", "--name", "orchard").code == 0
    assert rowen("sync", "orchard", "--json").json["status"] == "completed"
    shutil.copyfile(store, harvested)
    site.clear_log()
    return site
