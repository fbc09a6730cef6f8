"""What a command writes, and where."""

from __future__ import annotations

import pytest

from rowen.doors.cli.output import Output


def test_a_table_in_a_pipe_has_its_columns_under_each_other_and_no_blanks_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = Output()
    out.table(["*name", ">count", "~state"], [("日本", "1,000", ("held", "red")), ("é", "7", "")])
    assert capsys.readouterr().out == "name  count  state\n日本  1,000  held\né         7\n"
