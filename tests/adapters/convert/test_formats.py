"""Which bodies are what: said from type and address, then from the first bytes."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from io import BytesIO

import pytest

from rowen.adapters.convert.formats import Kind, kind_of, language_of, plugin_names, reads
from rowen.adapters.convert.sniff import sniff
from rowen.adapters.convert.worker import convert
from rowen.errors import Unparseable

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("content_type", "url", "kind"),
    [
        ("text/html; charset=utf-8", "https://e.org/x", Kind.HTML),
        ("text/html", "https://e.org/x.pdf", Kind.HTML),
        ("Application/XHTML+XML", "https://e.org/x", Kind.HTML),
        ("text/markdown", "https://e.org/x", Kind.MARKDOWN),
        ("text/plain", "https://e.org/x.MD?raw=1", Kind.MARKDOWN),
        ("text/plain", "https://e.org/llms-full.txt", Kind.MARKDOWN),
        ("text/plain", "https://e.org/x.txt", Kind.PLAIN),
        ("text/plain", "https://e.org/_sources/x.rst.txt", Kind.RST),
        ("", "file:///docs/x.md.txt", Kind.MARKDOWN),
        ("text/plain", "https://e.org/x.py.txt", Kind.PLAIN),
        ("text/plain; charset=utf-8", "https://e.org/x.unknown", Kind.PLAIN),
        ("text/plain", "https://e.org/x.rst", Kind.RST),
        ("text/plain", "https://e.org/x.py#L3", Kind.CODE),
        ("text/plain", "https://e.org/CMakeLists.txt", Kind.CODE),
        ("text/plain", "file:///x/Dockerfile", Kind.CODE),
        ("text/plain", "https://e.org/x.mdx", Kind.MDX),
        ("", "file:///docs/index.qmd", Kind.MARKDOWN),
        ("", "file:///docs/notes.Rmd", Kind.MARKDOWN),
        ("application/octet-stream", "https://e.org/x.md", Kind.MARKDOWN),
        ("application/octet-stream", "https://e.org/x.PDF", Kind.PDF),
        ("application/octet-stream", "https://e.org/x", None),
        ("application/json", "https://e.org/x", Kind.JSON),
        ("application/json", "https://e.org/x.ipynb", Kind.NOTEBOOK),
        ("application/x-ndjson", "", Kind.JSON_LINES),
        ("application/pdf", "", Kind.PDF),
        (_WORD, "", Kind.DOCX),
        ("text/x-python", "", Kind.CODE),
        ("", "https://e.org/x", Kind.HTML),
        ("", "", Kind.HTML),
        ("", "docs/README", None),
        ("", "file:///docs/LICENSE", None),
        ("", "Makefile", Kind.CODE),
        ("", "src/x.adoc", Kind.ASCIIDOC),
        ("", "pom.xml", Kind.XML),
        ("", "https://e.org/x.zip", None),
        ("image/png", "https://e.org/x.html", None),
        ("image/png", "", None),
        ("application/zip", "", None),
        ("application/octet-stream", "", None),
        # On the web these are feeds, sitemaps and assets.
        ("application/xml", "https://e.org/sitemap.xml", None),
        ("application/rss+xml", "", None),
        ("text/javascript", "https://e.org/app.js", None),
        ("text/css", "", None),
    ],
)
def test_the_kind_of_a_body_follows_from_type_and_address(
    content_type: str, url: str, kind: Kind | None
) -> None:
    assert kind_of(content_type, url) == kind


def test_the_language_of_code_follows_from_name_and_type() -> None:
    assert language_of("text/plain", "https://e.org/a/b.TSX?raw") == "tsx"
    assert language_of("", "Makefile") == "makefile"
    assert language_of("text/x-python; charset=utf-8", "https://e.org/raw") == "python"
    assert language_of("text/plain", "https://e.org/x.txt") == ""


def _archive(*names: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "<x/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("body", "called", "kind"),
    [
        (b"%PDF-1.4", Kind.PLAIN, Kind.PDF),
        (b"\n\n%PDF-1.4", Kind.PDF, Kind.PDF),
        (b"<html>please log in", Kind.PDF, None),
        (b"<html>please log in", Kind.XLSX, None),
        (_archive("word/document.xml"), Kind.PLAIN, Kind.DOCX),
        (_archive("xl/workbook.xml"), Kind.DOCX, Kind.XLSX),
        (_archive("other.txt"), Kind.DOCX, None),
        (b"PK\x03\x04 broken", Kind.DOCX, None),
        (b"\xd0\xcf\x11\xe0old word", Kind.PLAIN, None),
        (b"a\0b", Kind.CODE, None),
        (b"\xff\xfea\0", Kind.CODE, Kind.CODE),
        (b"Jars\n====\n\n.. note:: They break.\n", Kind.PLAIN, Kind.RST),
        (b".. _jars:\r\n\r\nJars\r\n----\r\n\r\nText.\r\n", Kind.PLAIN, Kind.RST),
        (b"Jars\n====\n\nSee :doc:`shelves </shelf>`.\n", Kind.PLAIN, Kind.RST),
        (b"Jars\n====\n\nOpen :all: at 10:30 `now`.\n", Kind.PLAIN, Kind.PLAIN),
        (b"====\nJars\n====\n\nThe ``lid`` is new.\n", Kind.PLAIN, Kind.RST),
        (b"\r\n****\r\nJars\r\n****\r\n\r\n*May 7, 2024*\r\n", Kind.PLAIN, Kind.RST),
        (b"======\n Jars\n======\n\nLids\n====\n\nText.\n", Kind.PLAIN, Kind.RST),
        (b"====\nJars\n====\n\nA text.\n", Kind.PLAIN, Kind.PLAIN),
        (b"====\nJars and lids\n====\n\n``lid``\n", Kind.PLAIN, Kind.PLAIN),
        (b"Text.\n\n====\nJars\n====\n\n``lid``\n", Kind.PLAIN, Kind.PLAIN),
        (b"====\nJars\n====\n\nJars and lids\n---\n", Kind.PLAIN, Kind.PLAIN),
        (b"A text.\n\n.. note:: They break.\n", Kind.PLAIN, Kind.PLAIN),
        (b"Jars\n====\n\n.. note:: They break.\n", Kind.MARKDOWN, Kind.MARKDOWN),
    ],
)
def test_the_first_bytes_say_more_than_the_header(body: bytes, called: Kind, kind: Kind | None) -> None:
    assert sniff(body, called, "") == kind


def test_an_unnamed_body_without_a_type_is_html_only_when_it_looks_so() -> None:
    url = "https://e.org/readme"
    assert convert(b" <h1>Title</h1>", content_type="", url=url).text == "# Title\n"
    assert convert(b"One\nTwo", content_type="", url=url).text == "One\nTwo\n"


def test_a_body_that_is_not_what_it_is_called_says_so() -> None:
    with pytest.raises(Unparseable, match="no PDF, but called `application/pdf`"):
        convert(b"<html>", content_type="application/pdf", url="https://e.org/x")


def test_saying_what_is_handled_loads_nothing_heavy() -> None:
    script = (
        "import sys; from rowen.adapters.convert.formats import kind_of; kind_of('', 'x.pdf'); "
        "sys.exit(bool({'turbohtml', 'pypdfium2', 'ast', 'json', 'zipfile', 'xml'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {script}"],
                          check=False).returncode == 0  # fmt: skip


@pytest.mark.parametrize(
    ("content_type", "url", "names"),
    [
        ("text/vtt; charset=utf-8", "https://e.org/a.vtt", ["text/vtt", ".vtt"]),
        ("text/vtt", "https://e.org/a", ["text/vtt"]),
        ("text/vtt", "https://e.org/a.html", ["text/vtt"]),
        ("text/plain", "https://e.org/A.SRT?x=1", [".srt"]),
        ("application/octet-stream", "https://e.org/a.srt", [".srt"]),
        ("", "talks/a.srt", [".srt"]),
        ("text/html", "https://e.org/a.srt", []),
        ("application/json", "https://e.org/a.srt", []),
        ("text/x-python", "https://e.org/a.srt", []),
        ("text/plain", "https://e.org/a.txt", []),
        ("", "src/Makefile", []),
        ("", "https://e.org/", []),
    ],
)
def test_plugins_are_asked_for_what_is_not_ours(content_type: str, url: str, names: list[str]) -> None:
    assert plugin_names(content_type, url) == names


def test_types_and_endings_of_ours_are_known() -> None:
    assert all(map(reads, ("text/html", "text/x-go", ".html", ".py", ".docx")))
    assert not any(map(reads, ("text/vtt", ".vtt", "html")))
