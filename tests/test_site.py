"""The documentation as a site: it builds without a warning, and every link in it leads somewhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from scripts import site
from tests.support.doc_blocks import ROOT

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "srcset"}


@dataclass
class Page(HTMLParser):
    """Which places a page has, where it leads, and what a browser loads for it."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag in LOADED and LOADED[tag] in given and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.add(given[LOADED[tag]])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    site.stage(folder)
    done = site.build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    found = {}
    for path in built.rglob("*.html"):
        found[path] = Page()
        found[path].feed(path.read_text("utf-8"))
    return found


def test_the_site_has_every_document(built: Path) -> None:
    documents = [*ROOT.glob("docs/**/*.md"), *(ROOT / name for name in site.PROJECT)]
    places = [built / site.place_of(one).replace("README.md", "index.md") for one in documents]
    assert [place for place in places if not place.with_suffix(".html").exists()] == []


def test_every_link_and_anchor_of_the_site_leads_somewhere(built: Path, pages: dict[Path, Page]) -> None:
    assert sum(len(page.links) for page in pages.values()) > 1000
    broken = []
    for path, page in pages.items():
        # The page for addresses that do not exist is shown at any of them: its links begin at the root.
        for link in page.links | page.loads if path.name != "404.html" else ():
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            known = pages[target].ids if target in pages else set()
            if not target.is_file() or (anchor and target in pages and anchor not in known):
                broken.append(f"{path.relative_to(built)}: {link}")
    assert broken == []


def test_a_page_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    loads = {one for page in pages.values() for one in page.loads}
    assert loads
    assert [one for one in loads if urlsplit(one).netloc] == []


def test_every_page_has_its_place_in_the_navigation() -> None:
    """A new page is added to `nav` in zensical.toml."""
    listed = set(_listed(tomllib.loads(site.CONFIG.read_text("utf-8"))["project"]["nav"]))
    written = {path.relative_to(site.DOCS).as_posix() for path in site.DOCS.rglob("*.md")}
    decisions = {name for name in written if name.startswith("adr/")}
    assert listed == (written - decisions) | set(site.PROJECT.values()) | {"adr/*.md"}


def test_links_of_the_sources_lead_to_headings_that_exist() -> None:
    """Also where the files are read as they are, without the site."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    broken = []
    for document in documents:
        for link in re.findall(r"\]\(([^)\s]+#[^)\s]+|#[^)\s]+)\)", document.read_text("utf-8")):
            name, _, anchor = link.partition("#")
            target = (document.parent / name).resolve() if name else document
            if "://" not in link and target.suffix == ".md" and anchor not in _anchors(target):
                broken.append(f"{document.relative_to(ROOT)}: {link}")
    assert broken == []


def _listed(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from _listed(value)
            else:
                yield value


def _anchors(document: Path) -> set[str]:
    """As code forges make them of headings."""
    headings = re.findall(r"^#+ +(.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
