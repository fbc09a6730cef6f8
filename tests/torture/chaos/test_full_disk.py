"""A disk that fills up in the middle of a sync: said plainly, nothing lost, and the next sync goes on."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from tests.support.site import Site, html
from tests.torture.crash.test_processes import call

FILE_LIMIT_BYTES = 1_500_000


def no_larger_files() -> None:
    """To SQLite a file that may not grow looks like a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, FILE_LIMIT_BYTES))


def test_a_full_disk_is_said_plainly_and_loses_nothing(tmp_path: Path) -> None:
    db = tmp_path / "rowen.db"
    with Site({"/": html("Home", "barley and oats")}) as site:
        call(db, "add", site.url + "/", "--name", "docs")
        call(db, "sync")
        paths = [f"/{n}" for n in range(60)]
        site.set("/", html("Home", "barley and rye", links=paths))
        for path in paths:
            site.set(path, html(path, *(f"{path} speaks of field {n}. " * 40 for n in range(40))))
        ended = subprocess.run(
            [sys.executable, "-m", "rowen", "--db", f"sqlite:///{db}", "sync"],
            capture_output=True,
            text=True,
            preexec_fn=no_larger_files,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 1, ended.stderr
        assert "the disk is full; what was visible before is unchanged" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert len(call(db, "search", "oats", "--mode", "keyword")["hits"]) == 1
        receipt = call(db, "sync")
        assert (receipt["status"], receipt["created"]) == ("completed", 60)
