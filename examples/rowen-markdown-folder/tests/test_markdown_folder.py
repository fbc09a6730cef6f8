"""The sink through the command line: a folder of files is the source, another one is written."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rowen import Rowen

Command = Callable[..., str]


@pytest.fixture
def rowen(tmp_path: Path) -> Command:
    """The `rowen` command."""

    def call(*arguments: str, code: int = 0) -> str:
        store = f"sqlite:///{tmp_path / 'rowen.db'}"
        command = [sys.executable, "-m", "rowen", *arguments, "--db", store]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == code, ended.stderr
        return ended.stdout + ended.stderr

    return call


@pytest.fixture
def docs(tmp_path: Path, rowen: Command) -> Path:
    """A source with three documents, and the sink for it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pears.md").write_text("# Pears\n\nThey are ripe.\n")
    (folder / "plums.md").write_text("# Plums\n\nThey are blue.\n")
    (folder / "quinces.md").write_text('# Quinces "hard"\n\nThey are hard.\n')
    (tmp_path / "rowen.toml").write_text(
        f'[[sources]]\nname = "docs"\nlocation = "{folder}"\n'
        f'[[sinks]]\nname = "notes"\nkind = "markdown-folder"\nfolder = "{tmp_path / "notes"}"\n'
    )
    rowen("apply", str(tmp_path / "rowen.toml"))
    rowen("sync", "docs")
    return folder


def written(tmp_path: Path) -> dict[str, str]:
    """The files that were written, by title."""
    found = {}
    for path in (tmp_path / "notes").rglob("*.md"):
        title = path.read_text().split("\n")[1].removeprefix("title: ")
        found[json.loads(title)] = path.read_text()
    return found


def test_the_folder_follows_what_readers_see(tmp_path: Path, rowen: Command, docs: Path) -> None:
    files = written(tmp_path)
    assert sorted(files) == ["Pears", "Plums", 'Quinces "hard"']
    assert files["Pears"].endswith('source: "docs"\n---\n\n# Pears\n\nThey are ripe.\n')

    (docs / "pears.md").unlink()
    (docs / "plums.md").write_text("# Plums\n\nThey are dried.\n")
    (quinces,) = (tmp_path / "notes").rglob("quinces*")
    quinces.write_text('---\ntitle: "not written again"\n')
    mine = tmp_path / "notes/docs/mine.txt"
    mine.write_text("mine")
    rowen("sync", "docs")
    files = written(tmp_path)
    assert sorted(files) == ["Plums", "not written again"]
    assert "dried" in files["Plums"]

    rowen("announce", "notes", "--now")
    assert sorted(written(tmp_path)) == ["Plums", 'Quinces "hard"']

    rowen("remove", "docs", "--yes")
    assert [path.name for path in (tmp_path / "notes").rglob("*") if path.is_file()] == ["mine.txt"]


def test_a_source_added_again_has_none_of_the_files_of_the_one_before(
    tmp_path: Path, rowen: Command, docs: Path
) -> None:
    with Rowen(f"sqlite:///{tmp_path / 'rowen.db'}") as library:
        # Unlike the command, it leaves the sinks for later.
        library.remove("docs")
    (docs / "pears.md").unlink()
    rowen("apply", str(tmp_path / "rowen.toml"))
    rowen("sync", "docs")
    assert sorted(written(tmp_path)) == ["Plums", 'Quinces "hard"']


def test_what_could_not_be_written_is_written_the_next_time(
    tmp_path: Path, rowen: Command, docs: Path
) -> None:
    notes = tmp_path / "notes"
    shutil.rmtree(notes)
    notes.write_text("in the way")
    assert "is not a folder" in rowen("apply", str(tmp_path / "rowen.toml"), code=2)
    rowen("announce", "notes", "--now", code=1)
    notes.unlink()
    rowen("announce", "notes", "--now")
    assert sorted(written(tmp_path)) == ["Pears", "Plums", 'Quinces "hard"']
