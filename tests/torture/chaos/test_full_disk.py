"""A disk that fills up in the middle of a sync: said plainly, nothing lost, and the next sync goes on."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from pathlib import Path

from tests.support.site import Site, html
from tests.torture.crash.test_processes import call

FILE_LIMIT_BYTES = 1_500_000
WORDS = [f"{number:x}" for number in range(1_000_000, 1_050_000)]


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


def limited(*arguments: str, limit: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rowen", *arguments],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        timeout=120,
        check=False,
    )


def test_a_full_disk_leaves_the_old_state_of_what_vacuum_copy_upgrade_and_rescue_work_on(
    tmp_path: Path,
) -> None:
    db, other = tmp_path / "rowen.db", tmp_path / "other.db"
    # Words that no compression makes small: the texts take more room than an empty store.
    chance = random.Random(1)
    pages = {
        f"/{n}": html(f"{n}", *(" ".join(chance.choices(WORDS, k=80)) for _ in range(10))) for n in range(160)
    }
    with Site({"/": html("Home", "barley and oats", links=[*pages]), **pages}) as site:
        call(db, "add", site.url + "/", "--name", "docs")
        call(db, "sync")
    before = call(db, "db", "check")
    store, target = f"sqlite:///{db}", f"sqlite:///{other}"
    for arguments in (
        ("vacuum", "--db", store),
        ("db", "copy", store, target),
        ("db", "rescue", store, f"{target}.new"),
    ):
        ended = limited(*arguments, limit=db.stat().st_size // 2)
        assert ended.returncode == 1, f"{arguments}: {ended.stdout}{ended.stderr}"
        assert "the disk is full" in ended.stderr, ended.stderr
        assert "Traceback" not in ended.stderr
        assert call(db, "db", "check") == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("other.db.new")) == []
    assert "is not complete" in limited("status", "--db", target, limit=1 << 30).stderr
    assert limited("db", "copy", store, target, limit=1 << 30).returncode == 0
    old = call(db, "db", "version")["version"] - 1
    call(db, "db", "downgrade", "--to", str(old), "--yes")
    ended = limited("db", "upgrade", "--db", store, limit=1000)
    assert ended.returncode != 0
    assert call(db, "db", "version")["version"] == old
    assert call(db, "db", "upgrade")["before"] == old
    assert call(db, "db", "check")["ok"]
