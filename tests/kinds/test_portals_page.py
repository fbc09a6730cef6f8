"""`docs/portals.md` says of every family of portals what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from rowen.kinds.api.datasets.choice import LISTS, Choice
from rowen.kinds.api.kind import PRESETS
from rowen.kinds.api.presets.preset import Preset
from rowen.kinds.ckan import rules as ckan

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "portals.md").read_text("utf-8")
CATALOGUES = {preset.kind: preset for preset in PRESETS if preset.catalogue is not None}

LISTED = {
    "none": ", one document, requested conditionally",
    "links": ", a tree of documents",
}
ENDS = {"arcgis": "where the site refuses"}
ASKED = "others on request, one request each"
LABELS = {
    "opendatasoft": "Opendatasoft",
    "arcgis": "ArcGIS Hub",
    "dcat": "DCAT",
    "oai_pmh": "OAI-PMH",
    "invenio": "InvenioRDM",
    "csw": "CSW",
    "stac": "STAC",
    "udata": "udata",
    "dcat_list": "lists",
    "sparql": "SPARQL",
}
"""What a family is called among the known faults."""


def rows(header: str) -> list[list[str]]:
    """The cells of the table that begins with this header."""
    lines = PAGE[PAGE.index(f"| {header} |") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_table_is_what_the_presets_declare() -> None:
    first, *others = rows("kind")
    assert (first[0], first[6]) == ("`ckan`", f"in the list; {ASKED}")
    faults = sum(row[0].startswith("CKAN") for row in rows("fault"))
    assert first[7] == str(faults)
    assert others == [row_of(preset) for preset in CATALOGUES.values()]


def row_of(preset: Preset) -> list[str]:
    """A family's cells by its declaration; the last is the number of its faults below."""
    catalogue, paging = preset.catalogue, preset.settings.get("paging", "none")
    assert catalogue is not None
    listing = f"`{paging}`" + LISTED.get(paging, "")
    if catalogue.sliced:
        listing += ", by date range beyond the limit"
    incremental = "whole list compared"
    if catalogue.changes:
        incremental = f"changes since the last run (`{next(iter(catalogue.changes))}`)"
    elif paging == "none" or preset.kind == "dcat":
        incremental += "; 304 for one document"
    deletions = "absent from a complete list"
    if catalogue.check:
        deletions += "; each one is requested first"
    if catalogue.deleted:
        deletions = f"named by the portal; {deletions}"
    filters = (
        ", ".join(f"`{name}`" for name in (*(spec.name for spec in preset.own), *catalogue.choices)) or "none"
    )
    ends = f"{catalogue.offset_end:,}" if catalogue.offset_end else ENDS.get(preset.kind, "never")
    listed = catalogue.columns or "chema" in catalogue.resources
    columns = "; ".join(filter(None, (listed and "in the list", catalogue.table and ASKED))) or "none"
    label = LABELS.get(preset.kind)
    known = sum(row[0].startswith(label) for row in rows("fault")) if label else 0
    return [f"`{preset.kind}`", listing, incremental, deletions, filters, ends, columns, str(known)]


def test_the_filters_of_ckan_are_those_it_is_sent() -> None:
    settings = {name: ["x"] for name in LISTS} | {"query": "x", "bbox": "0,0,1,1"}
    sent = {name for name in settings if ckan.chosen(Choice({name: settings[name]}))}
    assert set(re.findall(r"`(\w+)`", rows("kind")[0][4])) == sent


def test_every_known_fault_has_its_test() -> None:
    written = "".join(
        file.read_text("utf-8")
        for folder in ("ckan", "api", "families")
        for file in (ROOT / "tests" / "kinds" / folder).glob("test_*.py")
    )
    tests = set(re.findall(r"def (test_\w+)", written))
    named = [row[2].strip("` ") for row in rows("fault")]
    assert len(named) >= 12
    assert [name for name in named if name not in tests] == []
