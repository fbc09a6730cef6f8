"""What a command writes, and where."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.drawing.text import Text
from rowen.doors.cli.output import Output


def test_a_table_in_a_pipe_has_its_columns_under_each_other_and_no_blanks_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = Output()
    out.table(["*name", ">count", "~state"], [("日本", "1,000", ("held", "red")), ("é", "7", "")])
    assert capsys.readouterr().out == "name  count  state\n日本  1,000  held\né         7\n"


@pytest.mark.parametrize(("pager", "coloured"), [("less", True), ("less -F", False), ("cat", False)])
def test_a_pager_gets_colours_only_if_it_draws_them(
    pager: str, coloured: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`less` showed `ESC[1m`: it draws colours when it is started with -R."""
    seen = tmp_path / "seen"
    program = tmp_path / pager.split()[0]
    program.write_text(f'#!/bin/sh\n{{ echo "LESS=$LESS"; /bin/cat; }} > {seen}\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.delenv("LESS", raising=False)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)

    def opened(self: Output, *, stderr: bool) -> Console:
        return Console(sys.stdout, terminal=True, colours=True, width=80, height=1)

    monkeypatch.setattr(Output, "_open", opened)
    Output().page(Text("two\nlines", "bold"))
    shown = seen.read_text()
    assert ("LESS=-R" in shown, "\x1b[1m" in shown) == (coloured, coloured)
    assert "two" in shown
