"""`docs/portals.md` says of every family of portals what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from rowen.kinds.api.kind import PRESETS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "portals.md").read_text("utf-8")
CATALOGUES = {preset.kind: preset for preset in PRESETS if preset.catalogue is not None}


def rows(header: str) -> list[list[str]]:
    """The cells of the table that begins with this header."""
    lines = PAGE[PAGE.index(f"| {header} |") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_table_has_every_family_and_no_other() -> None:
    assert [row[0].strip("` ") for row in rows("kind")] == ["ckan", *(_order())]


def _order() -> list[str]:
    return sorted(CATALOGUES, key=["socrata", "opendatasoft", "arcgis", "dcat"].index)


def test_paging_deletions_and_ends_are_those_of_the_presets() -> None:
    for name, listing, _, deletions, _, ends in rows("kind")[1:]:
        preset = CATALOGUES[name.strip("` ")]
        assert preset.catalogue is not None
        assert listing.startswith(f"`{preset.settings['paging']}`"), name
        assert ("stretches of time" in listing) == preset.catalogue.sliced, name
        assert ("each is asked for first" in deletions) == bool(preset.catalogue.check), name
        assert (ends == "10,000") == (preset.catalogue.offset_end == 10_000), name


def test_every_known_fault_has_its_test() -> None:
    written = "".join(
        file.read_text("utf-8")
        for folder in ("ckan", "api")
        for file in (ROOT / "tests" / "kinds" / folder).glob("test_*.py")
    )
    tests = set(re.findall(r"def (test_\w+)", written))
    named = [row[2].strip("` ") for row in rows("fault")]
    assert len(named) >= 12
    assert [name for name in named if name not in tests] == []
