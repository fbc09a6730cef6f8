"""`rowen compare`: two versions of one thing, in words and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doors.conftest import Rowen
from tests.support.manual import manual

OLD = "# Tasks\n\n## `task()` {#aio.task .function}\n\n`task(coro)`\n\nAdds.\n\n## Old\n\nGone.\n"
NEW = OLD.replace("task(coro)", "task(coro, context=None)").replace("## Old\n\nGone.", "## New\n\nFresh.")


@pytest.fixture
def versions(rowen: Rowen, tmp_path: Path) -> None:
    for version, text in (("1", OLD), ("2", NEW)):
        folder = tmp_path / version
        folder.mkdir()
        (folder / "tasks.html").write_text(manual(text))
        rowen("add", str(folder), "--name", "aio", "--version", version)
        assert rowen("sync", f"aio@{version}").code == 0


def test_two_versions_are_compared(rowen: Rowen, versions: None) -> None:
    out = rowen("compare", "aio@1", "2").out
    assert out.splitlines() == [
        "aio@1 → aio@2  1 changed symbol, 1 new section, 1 removed section, 1 changed page",
        "Names",
        "  ~ `aio.task`: new parameter `context`",
        "Sections",
        "  + Tasks: new section New",
        "  - Tasks: section Old removed",
    ]
    value = rowen("compare", "aio@1", "aio@2", "--json").json
    assert value["symbols"][0]["words"] == "`aio.task`: new parameter `context`"
    assert value["counts"]["sections_added"] == 1


def test_a_source_that_is_not_there_is_named(rowen: Rowen, versions: None) -> None:
    ended = rowen("compare", "aio@1", "3")
    assert ended.code == 2
    assert "no such source" in ended.err
