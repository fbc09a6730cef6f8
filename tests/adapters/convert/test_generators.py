"""Pages of documentation generators: each name they define has its anchor, kind, full name and place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.adapters.convert.html.page import convert_html
from rowen.core.split import split

_GOLDEN = Path(__file__).parents[2] / "golden"
URL = "https://docs.example/page.html"

# The first definition of a page, and one inside it: (kind, full name, anchor).
_DEFINED = {
    "javadoc": (
        ("class", "org.example.pantry.Larder", None),
        ("constructor", "org.example.pantry.Larder.Larder", "%3Cinit%3E(int)"),
        ("method", "org.example.pantry.Larder.toArray", "toArray(T%5B%5D)"),
    ),
    "javadoc_old": (
        ("interface", "org.example.pantry.Shelf", None),
        ("method", "org.example.pantry.Shelf.count", "count-java.lang.String-"),
    ),
    "typedoc": (("class", "rooms.Larder", None), ("method", "rooms.Larder.put", "put")),
    "rustdoc": (
        ("struct", "pantry::rooms::Larder", None),
        ("field", "pantry::rooms::Larder::shelves", "structfield.shelves"),
        ("method", "pantry::rooms::Larder::put", "method.put"),
    ),
    "doxygen": (
        ("class", "pantry::Larder", None),
        ("constant", "pantry::Larder::Vessel::JAR", "aa03a69"),
        ("method", "pantry::Larder::operator==", "a552"),
    ),
    "pkg_go_dev": (
        ("package", "larder", None),
        ("constant", "larder.MaxJars", "MaxJars"),
        ("method", "larder.Larder.Put", "Larder.Put"),
    ),
    "mdn": (("method", "Larder.prototype.put", None), ("parameter", "shelf", "shelf")),
    "mkdocstrings": (("module", "pantry", "pantry"), ("method", "pantry.Larder.put", "pantry.Larder.put")),
    "docbook_refentry": (("command", "STOCK LARDER", "SQL-STOCKLARDER"),),
    "docbook": (("setting", "air_flow", "GUC-AIR-FLOW"),),
    "sphinx_class": (("class", "pantry.rooms.Larder", "pantry.rooms.Larder"),),
}


@pytest.mark.parametrize("generator", _DEFINED)
def test_what_a_generator_defines_has_its_kind_full_name_and_anchor(generator: str) -> None:
    text = convert_html((_GOLDEN / generator / "input.html").read_text("utf-8"), URL).text
    found = [(s.symbol.kind, s.symbol.name, s.anchor) for s in split(text) if s.symbol]
    expected = _DEFINED[generator]
    assert found[0] == expected[0]
    assert [one for one in found if one in expected] == list(expected)


def test_a_method_stands_in_its_type_and_says_its_signature_first() -> None:
    text = convert_html((_GOLDEN / "pkg_go_dev" / "input.html").read_text("utf-8"), URL).text
    (put,) = [s for s in split(text) if s.symbol and s.symbol.name == "larder.Larder.Put"]
    assert put.heading_path[-2:] == ("Larder", "Put()")
    assert put.text.startswith("`func (l *Larder) Put(jar Jar) error`\n")


def test_a_page_that_only_speaks_of_a_generator_is_read_as_it_stands() -> None:
    page = "<main><h1>Why we left javadoc and rustdoc</h1><h3>memitem</h3><p>doc-object</p></main>"
    assert convert_html(page, URL).text == "# Why we left javadoc and rustdoc\n\n### memitem\n\ndoc-object\n"


def test_a_heading_that_repeats_the_title_is_left_out_of_the_paths() -> None:
    page = """<main><h1>Jars</h1><p>Short.</p><h2 id="jars">Jars</h2><p>Long.</p><h3>Lids</h3>
    <h2>Jars</h2></main>"""
    converted = convert_html(page, URL)
    assert converted.text == '# Jars\n\nShort.\n\n<a id="jars"></a>\n\nLong.\n\n### Lids\n\n## Jars\n'


@pytest.mark.parametrize(
    "clutter",
    [
        '<div class="language-js"><span class="lang">js</span><pre>x</pre></div>',
        '<div class="code-example"><div class="example-header"><span>js</span></div><pre>x</pre></div>',
        '<div class="version-switcher__container"><span>2.1</span></div><pre>x</pre>',
        '<div class="rst-versions"><dl><dt>Versions</dt></dl></div><pre>x</pre>',
    ],
)
def test_labels_of_languages_and_versions_are_no_text(clutter: str) -> None:
    text = convert_html(f"<main><h1>T</h1>{clutter}</main>", URL).text
    assert text.replace("```javascript", "```").replace("```js", "```") == "# T\n\n```\nx\n```\n"


@pytest.mark.parametrize(("page", "kind"), [("jar-fill(1)", "command"), ("jarignore(5)", "term")])
def test_a_man_page_of_asciidoc_defines_its_name_and_begins_with_what_it_is_for(page: str, kind: str) -> None:
    name = page.partition("(")[0]
    header = f"<h1>\n{page} Manual Page\n</h1><h2>NAME</h2><div><p>{name} -\n  Fill a jar\n</p></div>"
    converted = convert_html(f'<div id="header">{header}</div><h2 id="_s">SYNOPSIS</h2><p>s</p>', URL)
    assert converted.title == page
    first = split(converted.text)[0]
    assert (first.symbol, first.heading_path, first.text) == ((name, kind), (page,), f"{name} - Fill a jar")
    other = convert_html('<div id="header"><h1>Jars</h1><h2>NAME</h2></div><p>) Manual Page</p>', URL)
    assert other.text.startswith("# Jars {#header}\n\n## NAME\n")
