"""`rowen watch`: a folder is followed by the events of its files, and Ctrl-C ends it well."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.conftest import Rowen


@pytest.fixture
def notes(tmp_path: Path, rowen: Rowen) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# Apples\n\nKeep them cool.\n")
    (folder / "deep" / "b.md").write_text("# Pears\n\nKeep them dark.\n")
    assert rowen("add", str(folder), "--name", "notes").code == 0
    return folder


class Watching:
    """The process, and what it says of each run."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rowen", "watch", "notes", "--json", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))


@pytest.fixture
def watching(notes: Path) -> Iterator[Watching]:
    started = Watching()
    try:
        first = started.run()
        assert (first["created"], first["status"]) == (2, "completed")
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def test_a_saved_file_is_found_by_search_and_no_other_is_looked_at(
    rowen: Rowen, notes: Path, watching: Watching
) -> None:
    (notes / "new.md").write_text("# Quinces\n\nThe medlar and the quince need frost.\n")
    run = watching.run()
    assert (run["created"], run["unchanged"], run["reads"], run["requests"]) == (1, 0, 1, 0)
    (hit, *_) = rowen("search", "medlar frost", "--json").json["hits"]
    assert hit["title"] == "Quinces"

    (notes / "new.md").unlink()
    assert watching.run()["deleted"] == 1
    assert not rowen("search", "medlar", "--mode", "keyword", "--json").json["hits"]


def test_a_folder_that_goes_takes_its_files_along(rowen: Rowen, notes: Path, watching: Watching) -> None:
    shutil.rmtree(notes / "deep")
    deleted = 0
    while not deleted:
        deleted = watching.run()["deleted"]
    assert [one["reference"] for one in rowen("list", "notes", "--json").json["documents"]] == ["a.md"]


def test_what_does_not_belong_to_the_source_makes_no_run(notes: Path, watching: Watching) -> None:
    (notes / ".hidden.swp").write_text("x")
    (notes / "a.md").write_text("# Apples\n\nKeep them colder.\n")
    run = watching.run()
    assert (run["updated"], run["reads"]) == (1, 1)


def test_ctrl_c_ends_it_well(rowen: Rowen, watching: Watching) -> None:
    watching.process.send_signal(signal.SIGINT)
    _, err = watching.process.communicate(timeout=60)
    assert watching.process.returncode == 130
    assert json.loads(err.splitlines()[-1])["error"] == "stopped watching; what was visible stays"
    assert rowen("status", "--json").json["sources"][0]["running"] is False


def test_a_source_that_is_not_there_is_not_watched(rowen: Rowen, notes: Path) -> None:
    assert rowen("watch", "nobody").code == 2
    shutil.rmtree(notes)
    ended = rowen("watch", "notes")
    assert ended.code == 1
    assert "no such file or folder" in ended.err
