"""The packages in `examples/`, installed by pip into a fresh environment, used by the `rowen` command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torture

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/pyproject.toml"))
FEED = b"""<rss><channel><title>Orchard</title>
<item><guid>1</guid><title>Pears are ripe</title><link>/pears</link>
<description>Pick soon.</description></item>
</channel></rss>"""
OPTIONS = {"request": {"texts": "$texts"}, "vectors": "vectors"}


class _Handler(BaseHTTPRequestHandler):
    """A feed to read, and an endpoint that makes vectors."""

    def do_GET(self) -> None:
        self._answer(FEED)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(json.dumps({"vectors": [[1, len(text) % 7, 3] for text in body["texts"]]}).encode())

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A fresh environment with Rowen and the examples; what Rowen needs is borrowed from this one."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin/python"
    purelib = next(folder.glob("lib/python*/site-packages"))
    (purelib / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    # A copy, so that building leaves nothing behind in the working tree.
    packages = [tmp_path / "packages" / path.name for path in (ROOT, *EXAMPLES)]
    for source, package in zip((ROOT, *EXAMPLES), packages, strict=True):
        package.mkdir(parents=True)
        names = ["pyproject.toml", "README.md", "LICENSE", "src"]
        there = [str(source / name) for name in names if (source / name).exists()]
        subprocess.run(["cp", "-r", *there, package], check=True)
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed"]
    done = subprocess.run([*pip, *options, *packages], capture_output=True, text=True, env=_plain())
    assert done.returncode == 0, done.stderr
    asked = [python, "-c", "import rowen; print(rowen.__file__)"]
    used = subprocess.run(asked, capture_output=True, text=True, check=True, env=_plain()).stdout
    assert used.startswith(str(folder))
    return folder


def _plain() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith(("ROWEN_", "PIP_"))
    }


def test_the_examples_work_when_they_are_installed(environment: Path, server: str, tmp_path: Path) -> None:
    variables = _plain() | {
        "ROWEN_DB": f"sqlite:///{tmp_path / 'rowen.db'}",
        "ROWEN_EMBEDDING_PROVIDER": "http",
        "ROWEN_EMBEDDING_BASE_URL": f"{server}/embed",
        "ROWEN_EMBEDDING_DIMENSIONS": "3",
        "ROWEN_EMBEDDING_OPTIONS": json.dumps(OPTIONS),
    }

    def rowen(*arguments: str) -> str:
        done = subprocess.run(
            [environment / "bin/rowen", *arguments],
            capture_output=True,
            text=True,
            env=variables,
            cwd=tmp_path,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    assert "Settings of kind `rss`" in rowen("add", "--help")
    rowen("add", f"{server}/feed.xml", "--kind", "rss", "--name", "blog")
    report = json.loads(rowen("doctor", "--json"))
    found = {(plugin["group"], plugin["name"]): plugin["ok"] for plugin in report["plugins"]}
    assert found == {
        ("rowen.kinds", "rss"): True,
        ("rowen.sinks", "markdown-folder"): True,
        ("rowen.embedders", "http"): True,
        ("rowen.converters", ".srt"): True,
        ("rowen.converters", ".vtt"): True,
        ("rowen.converters", "application/x-subrip"): True,
        ("rowen.converters", "text/vtt"): True,
    }
    synced = json.loads(rowen("sync", "blog", "--json"))
    assert (synced["created"], synced["embeddings_computed"]) == (1, 1)
    (hit,) = json.loads(rowen("search", "ripe pears", "--kind", "rss", "--json"))["hits"]
    assert hit["title"] == "Pears are ripe"

    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nQuinces are hard\n")
    (tmp_path / "rowen.toml").write_text(
        f'[[sources]]\nname = "blog"\nlocation = "{server}/feed.xml"\nkind = "rss"\n'
        f'[[sources]]\nname = "talks"\nlocation = "{tmp_path / "talks"}"\n'
        f'[[sinks]]\nname = "notes"\nkind = "markdown-folder"\nfolder = "{tmp_path / "notes"}"\n'
    )
    rowen("apply", "rowen.toml")
    assert json.loads(rowen("sync", "talks", "--json"))["created"] == 1
    rowen("announce", "notes")
    written = [path.read_text() for path in (tmp_path / "notes").rglob("*.md")]
    assert len(written) == 2
    assert any("Quinces are hard" in text for text in written)
