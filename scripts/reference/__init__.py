"""Write the pages of docs/reference from the code: commands, settings, REST operations, MCP tools.

`make reference` writes them; with `--check` nothing is written, and the exit code is 1 when one is not
current.
"""

from __future__ import annotations

from pathlib import Path

from scripts.reference import api, commands, settings

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {
    "commands.md": commands.page,
    "rowen-toml.md": settings.toml_page,
    "sources.md": settings.sources_page,
    "sinks.md": settings.sinks_page,
    "rest-operations.md": api.rest_page,
    "rest-shapes.md": api.shapes_page,
    "mcp-tools.md": api.mcp_page,
}


def pages() -> dict[Path, str]:
    return {FOLDER / name: "\n".join(make()) for name, make in PAGES.items()}
