"""The documentation that judged questions are about, in stores of its own.

The demo's site comes with Rowen, and small pages in other languages stand beside their questions. The manuals
are packages of Debian: they are downloaded with `apt-get` into a cache folder and unpacked there, never
installed; without `apt-get`, a folder given with `--manual` does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rowen import AsyncRowen
from rowen.doors.demo import DemoServer, DemoSite


class Unavailable(Exception):
    """A manual that cannot be had here."""


@dataclass(frozen=True)
class Package:
    name: str
    folder: str


DEMO = "demo"
PACKAGES = {
    "python": Package("python3.11-doc", "usr/share/doc/python3.11/html"),
    "postgresql": Package("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    "commons-io": Package("libcommons-io-java-doc", "usr/share/doc/libcommons-io-java/api"),
}
"""Made by Sphinx, DocBook and Javadoc."""
WRITTEN = ("german", "arabic")
"""Small pages of our own, for words that are formed otherwise than in English: `SET_pages.jsonl`."""
SETS = (DEMO, *WRITTEN, *PACKAGES)


@contextmanager
def located(name: str, cache: Path) -> Iterator[str]:
    """Where a set can be harvested from, for as long as that takes."""
    if name == DEMO:
        with DemoServer(DemoSite()) as server:
            yield server.url
    elif name in WRITTEN:
        with tempfile.TemporaryDirectory() as folder:
            for line in (Path(__file__).parent / f"{name}_pages.jsonl").read_text("utf-8").splitlines():
                one = json.loads(line)
                Path(folder, one["page"]).write_text(one["text"], "utf-8")
            yield folder
    else:
        yield str(manual(name, cache))


def manual(name: str, cache: Path) -> Path:
    """The folder with its HTML files."""
    package = PACKAGES[name]
    installed = Path("/", package.folder)
    unpacked = cache / package.name
    if (unpacked / package.folder).is_dir():
        return unpacked / package.folder
    if installed.is_dir() and next(installed.rglob("*.html"), None):
        return installed
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise Unavailable("there is no apt-get here")
    cache.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", package.name], cache)
    file = max(cache.glob(f"{package.name}_*.deb"))
    _run(["dpkg-deb", "-x", file.name, f"{package.name}.part"], cache)
    (cache / f"{package.name}.part").rename(unpacked)
    return unpacked / package.folder


@asynccontextmanager
async def harvested(db: str, name: str, location: str) -> AsyncIterator[AsyncRowen]:
    """A store that holds one set; one that was harvested before is used as it is."""
    settings = {"include": "**/*.html"} if name in PACKAGES else {}
    async with AsyncRowen(db) as rowen:
        if not await rowen.status():
            await rowen.add(location, name=name, settings=settings, check=False)
            receipt = await rowen.sync(name)
            if not receipt.good:
                raise SystemExit(f"{name}: the harvest ended as `{receipt.status}`")
        yield rowen


def _run(command: list[str], folder: Path) -> None:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"`{' '.join(command)}` failed: {said}")
