"""The benchmark beside other tools: what it serves, what it counts, and what its report makes of it."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks.growth import Series, fitted
from benchmarks.peers import environments, processes, report
from benchmarks.peers.chart import panels
from benchmarks.peers.pages import Pages, reachable
from benchmarks.peers.run import CASES, ROWEN, SCRIPTS, counts, middle
from benchmarks.peers.server import Site

from tests.support.doc_blocks import ROOT

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The report of a recorded run, in a folder of its own."""
    shutil.copy(ROOT / "tests/fixtures/performance.json", tmp_path)
    report.write(tmp_path)
    return tmp_path


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    source = tmp_path / "source"
    (source / "more").mkdir(parents=True)
    (source / "index.html").write_text('<p>One<p>Two <a href="more/a.html#x">a</a> <a href="b.html">b</a>')
    (source / "more" / "a.html").write_text('<p>A <a href="../c.html">c</a>')
    (source / "b.html").write_text("<p>B")
    (source / "c.html").write_text("<p>C")
    (source / "lost.html").write_text("<p>No page links here")
    return Pages(source, tmp_path / "served", 3)


def test_the_report_has_every_figure_of_the_recorded_run(written: Path) -> None:
    text = (written / "performance.md").read_text()
    assert "| Rowen | 14.0 | 0.55 | 1.07 | 0.75 |" in text
    assert "| Rowen | 14.0 | 10.2 | 442 | 536 | 0 | 528 | 21,294 |" in text
    assert "| Scrapy | 17.3 | 64.3 | 160 | 529 | 527 | 1 | 0 |" in text
    assert "The pages: a small site, 20 pages, 1 MB of HTML" in text
    assert "- Scrapy: scrapy 2.19.0" in text
    assert "Medians of 3 rounds; Python 3.11.7, 2 cores. It was busy." in text


def test_a_contender_that_could_not_be_installed_is_named_with_the_reason(written: Path) -> None:
    text = (written / "performance.md").read_text()
    assert "| Crawlee | not run | not run | not run | not run |" in text
    assert "- Crawlee: not run here: ERROR: No matching distribution found for crawlee" in text
    assert "LangChain |" not in text


def test_what_a_contender_does_not_do_stands_beside_its_figures(written: Path) -> None:
    text = (written / "performance.md").read_text()
    assert "| Scrapy | follows links | yes | all text of the page | **no** | **no** | **none** |" in text
    assert set(report.DOES) == set(report.NAMES) == {*SCRIPTS, ROWEN}


def test_the_growth_of_costs_is_shown_with_its_bound(written: Path) -> None:
    text = (written / "performance.md").read_text()
    assert "| unchanged refresh | 500 pages | 5,000 pages | exponent |" in text
    assert "|  | 0.3 CPU s | 2.7 CPU s | 0.95 (at most 1.0) |" in text


def test_the_exponent_of_a_power_is_found() -> None:
    sizes = [500, 5_000, 50_000]
    assert fitted(sizes, [0.001 * size for size in sizes]) == pytest.approx(1)
    assert fitted(sizes, [0.3, 0.3, 0.3]) == pytest.approx(0)
    assert fitted(sizes, [size**0.5 for size in sizes]) == pytest.approx(0.5)


def test_a_cost_that_grows_faster_than_it_may_is_said_so() -> None:
    rollback = Series("rollback", "pages", "ms", 0.0, [500, 5_000], [1.0, 10.0])
    assert not rollback.good
    assert str(rollback).endswith("exponent 1.00, at most 0   ABOVE IT")
    assert rollback.as_dict()["exponent"] == 1.0


def test_bars_are_as_long_as_their_values(written: Path) -> None:
    drawing = ElementTree.parse(written / "images" / "performance-cpu.svg").getroot()
    bars = [(bar.get("class"), float(bar.get("width", "0"))) for bar in drawing.iter(f"{SVG}rect")]
    assert bars[0][0] == "us"
    # 14.025 s of Rowen, and half of it.
    assert bars[1][1] == pytest.approx(bars[0][1] / 2, abs=0.1)
    assert "not run" in "".join(text.text or "" for text in drawing.iter(f"{SVG}text"))


def test_names_in_a_chart_are_escaped() -> None:
    drawing = panels("A & B", "s", {"<x>": [("a<b", "", 1.0)]})
    assert "".join(ElementTree.fromstring(drawing).itertext()).count("a<b") == 1


def test_medians_are_taken_figure_by_figure() -> None:
    runs = [{"cpu_s": 1.0, "requests": 9}, {"cpu_s": 3.0, "requests": 7}, {"cpu_s": 2.0, "requests": 8}]
    assert middle(runs) == {"cpu_s": 2.0, "requests": 8}


def test_the_last_line_says_what_was_embedded() -> None:
    assert counts("langchain", 'a warning\n{"pages": 3, "embeddings": 7}\n') == {"embeddings": 7}
    assert counts(ROWEN, '{"source": "x"}\n{"status": "completed", "embeddings_computed": 5}') == {
        "embeddings": 5
    }


def test_a_run_of_rowen_that_did_not_complete_gives_no_figure() -> None:
    with pytest.raises(SystemExit, match="did not complete"):
        counts(ROWEN, '{"status": "partial", "embeddings_computed": 5}')


def test_only_pages_that_links_lead_to_are_served(pages: Pages) -> None:
    assert pages.names == ["b.html", "index.html", "more/a.html"]
    assert 'href="#"' in (pages.folder / "more" / "a.html").read_text()
    assert reachable(pages.folder) == set(pages.names)


def test_an_edit_changes_one_page_and_a_redeploy_only_times(pages: Pages) -> None:
    pages.first()
    before = {name: (pages.folder / name).read_bytes() for name in pages.names}
    times = {name: (pages.folder / name).stat().st_mtime for name in pages.names}
    pages.redeploy(3)
    assert {name: (pages.folder / name).read_bytes() for name in pages.names} == before
    assert all((pages.folder / name).stat().st_mtime > times[name] for name in pages.names)
    pages.edit(4)
    assert [name for name in pages.names if (pages.folder / name).read_bytes() != before[name]] == [
        "index.html"
    ]
    pages.first()
    assert {name: (pages.folder / name).stat().st_mtime for name in pages.names} == times
    assert (pages.folder / "index.html").read_bytes() == before["index.html"]


def test_the_server_answers_validators_and_counts(pages: Pages) -> None:
    pages.first()
    site = Site(pages.folder)
    fresh = site.answer(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    found = re.search(rb"ETag: (\S+)\r\nLast-Modified: ([^\r]+)", fresh)
    assert found is not None
    etag, modified = found.groups()
    assert site.answer(b"GET / HTTP/1.1\r\nIf-None-Match: " + etag + b"\r\n\r\n")[9:12] == b"304"
    assert site.answer(b"GET / HTTP/1.1\r\nIf-Modified-Since: " + modified + b"\r\n\r\n")[9:12] == b"304"
    # An entity tag goes before a time.
    both = b'If-None-Match: "other"\r\nIf-Modified-Since: ' + modified
    assert site.answer(b"GET / HTTP/1.1\r\n" + both + b"\r\n\r\n")[9:12] == b"200"
    assert site.answer(b"GET /../source/lost.html HTTP/1.1\r\n\r\n")[9:12] == b"404"
    pages.redeploy(1)
    assert site.answer(b"GET / HTTP/1.1\r\nIf-None-Match: " + etag + b"\r\n\r\n")[9:12] == b"200"
    assert {key: site.counts[key] for key in ("requests", "200", "304", "404")} == {
        "requests": 6,
        "200": 3,
        "304": 2,
        "404": 1,
    }


def test_the_time_of_children_counts(tmp_path: Path) -> None:
    child = "import time\nwhile time.process_time() < 0.5: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('done')"
    spent = processes.run([sys.executable, "-c", parent], environment={}, folder=tmp_path)
    assert spent.cpu_s >= 0.5
    assert spent.said == "done\n"
    assert spent.peak_mb > 0


def test_every_contender_has_pinned_versions_and_a_script() -> None:
    pins = environments.pins()
    assert set(pins) == set(SCRIPTS) - {"bare_loop"}
    for packages in pins.values():
        assert all("==" in package for package in packages)
    for script in SCRIPTS.values():
        assert (ROOT / "benchmarks/peers/contenders" / f"{script}.py").is_file()
    assert tuple(report.CASES) == CASES


def test_the_reason_of_a_failed_installation_is_pips() -> None:
    said = "WARNING: x\nERROR: No matching distribution found for y==1\nnote: z\n"
    assert environments.reason(said) == "ERROR: No matching distribution found for y==1"


def test_the_page_is_part_of_the_documentation() -> None:
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    assert "performance.md" in str(navigation)
    assert "docs/performance.md" in (ROOT / "README.md").read_text()
