"""What a terminal of 80 and of 160 columns shows, as golden text; `--rewrite-golden` writes it anew."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rowen.adapters.system import SystemClock
from rowen.doors.cli import output
from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.output import Output
from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site, html

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = {
    "search": ("search", "keep plum cool"),
    "search-nothing": ("search", "zebra", "--mode", "keyword"),
    "list": ("list",),
    "documents": ("list", "orchard"),
    "show": ("show", "1"),
    "status": ("status",),
    "runs": ("runs", "orchard"),
    "changes": ("changes",),
    "diff": ("diff", "orchard"),
    "sync": ("sync", "orchard", "--progress", "none"),
    "inspect": ("inspect", "SITE/pear.html"),
    "rollback": ("rollback", "orchard"),
}
LONG = (
    "The plum is stored in shallow wooden boxes, a single layer to a box, and looked at every week: one that "
    "has gone soft is taken out before it spoils the others, and the box is aired."
)


@pytest.fixture(params=[80, 160])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """A terminal so wide, without colours."""
    columns = int(request.param)

    def opened(self: Output, *, stderr: bool) -> Console:
        stream = sys.stderr if stderr else sys.stdout
        return Console(stream, terminal=True, colours=False, width=columns, height=500)

    monkeypatch.setattr(Output, "_open", opened)
    monkeypatch.setattr(Output, "draws", True)
    # The widths of columns follow from times and durations, which are longer on a busy machine.
    now = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", lambda clock: now)
    monkeypatch.setattr(output, "terminal_width", lambda stream: columns)
    return columns


@pytest.fixture
def harvested(width: int, tmp_path: Path) -> Path:
    """Each of these tests harvests for itself, while the clock stands."""
    return tmp_path / "harvested.db"


@pytest.fixture
def changed(rowen: Rowen, orchard: Site) -> Site:
    """A second generation: one page updated, one new, one gone."""
    orchard.set(
        "/plum.html", html("Plum", "The plum is picked by machine.", '<h2 id="storing">Storing</h2>', LONG)
    )
    orchard.set("/quince.html", fruit_page("quince"))
    orchard.set("/", html("Orchard", "All the fruit", links=["/apple.html", "/plum.html", "/quince.html"]))
    orchard.remove("/pear.html")
    assert rowen("sync", "orchard", "--json").json["generation"] == 2
    orchard.set("/pear.html", fruit_page("pear"))
    return orchard


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_on_a_terminal(
    rowen: Rowen, changed: Site, width: int, name: str, request: pytest.FixtureRequest
) -> None:
    if name == "show":
        rowen("search", "keep plum cool")
    ended = rowen(*(one.replace("SITE", changed.url) for one in COMMANDS[name]))
    assert ended.code == 0, ended.err
    shown = settled(ended.out + ended.err, changed.url)
    file = GOLDEN / str(width) / f"{name}.txt"
    if request.config.getoption("--rewrite-golden", default=False):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown)
    assert shown == file.read_text()
    assert max(len(line) for line in shown.splitlines() if "http" not in line) <= width


def settled(text: str, url: str) -> str:
    """Without what differs from run to run: the port, times and durations."""
    text = re.sub(r"\b\d+(?:\.\d+)? (?:s|min|h)( ago)?\b", lambda found: f"0 s{found[1] or ''}", text)
    text = text.replace("just now", "0 s ago").replace(url, "http://127.0.0.1:12345")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "2026-01-01 00:00", text)
    text = re.sub(r"in \d+ (h|days?|min)\b", "in 1 day", text)
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line.rstrip()) for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("width", [40], indirect=True)
def test_a_narrow_terminal_has_fewer_columns_and_whole_words(rowen: Rowen, orchard: Site, width: int) -> None:
    heading, orchards, *_ = rowen("status").out.splitlines()
    assert heading.split() == ["source", "documents", "state"]
    assert orchards.split() == ["orchard", "4", "up", "to", "date"]
