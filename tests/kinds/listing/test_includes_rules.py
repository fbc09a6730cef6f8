"""Which files a text includes, and what comes in their place."""

from __future__ import annotations

import pytest

from rowen.kinds.listing.includes.rules import Directive, Form, chosen, directives, placed, resolve


def found(text: str, form: Form = Form.RST) -> list[Directive]:
    return list(directives(text.splitlines(), form))


def test_directives_of_restructuredtext_have_their_options_and_their_indentation() -> None:
    text = "Text.\n\n.. include:: ../part.rst\n   :start-after: -- begin\n\n  .. literalinclude:: a.py\n"
    part, code = found(text)
    assert (part.path, part.options, part.literal) == ("../part.rst", {"start-after": "-- begin"}, False)
    assert (part.start, part.end) == (2, 4)
    assert (code.path, code.literal, code.indent) == ("a.py", True, "  ")


@pytest.mark.parametrize("head", ["Write this::", ".. code-block:: rst", ".. parsed-literal::"])
def test_an_example_of_a_directive_is_none(head: str) -> None:
    assert found(f"{head}\n\n   .. include:: part.rst\n") == []
    assert found(f"{head}\n\n   text\n\n.. include:: part.rst\n") != []


def test_a_directive_in_a_note_is_one() -> None:
    assert [one.path for one in found(".. note::\n\n   .. include:: part.rst\n")] == ["part.rst"]


def test_directives_of_asciidoc_stand_alone_on_a_line() -> None:
    text = (
        "include::a.adoc[leveloffset=+1]\n\\include::b.adoc[]\nsee include::c.adoc[]\n"
        "----\ninclude::d.py[tag=x]\n----\n"
    )
    assert [(one.path, one.options) for one in found(text, Form.ASCIIDOC)] == [
        ("a.adoc", {"leveloffset": "+1"}),
        ("d.py", {"tag": "x"}),
    ]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("part.rst", "docs/guide/part.rst"),
        ("../part.rst", "docs/part.rst"),
        ("./a/../part.rst", "docs/guide/part.rst"),
        ("/part.rst", "docs/part.rst"),
        ("../../../part.rst", None),
        ("../../..", None),
        ("https://example.org/part.rst", None),
        ("{partialsdir}/part.adoc", None),
        ("partial$part.adoc", None),
        ("<isonum.txt>", None),
        ("..\\part.rst", None),
    ],
)
def test_a_path_is_resolved_inside_the_source(written: str, path: str | None) -> None:
    assert resolve(written, "docs/guide/index.rst", ["docs", "other"]) == path


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("partial$note.adoc", "docs/modules/cli/partials/note.adoc"),
        ("example$deep/a.rb", "docs/modules/cli/examples/deep/a.rb"),
        ("api:example$a.rb", "docs/modules/api/examples/a.rb"),
        ("ROOT:page$index.adoc", "docs/modules/ROOT/pages/index.adoc"),
        ("partial$../../../secret.adoc", None),
        ("2.0@other:api:partial$note.adoc", None),
        ("partial$", None),
        ("partial${name}.adoc", None),
        ("family$note.adoc", None),
    ],
)
def test_a_file_of_a_module_of_antora_is_found_by_its_family(written: str, path: str | None) -> None:
    assert resolve(written, "docs/modules/cli/pages/man/index.adoc") == path
    assert resolve(written, "docs/cli/pages/index.adoc") is None
    assert resolve(written, "modules/index.adoc") is None


LINES = "one\ntwo # mark\nthree\nfour\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["one", "two # mark", "three", "four"]),
        ({"lines": "1,3-"}, ["one", "three", "four"]),
        ({"start-line": "1", "end-line": "-1"}, ["two # mark", "three"]),
        ({"start-after": "mark", "end-before": "four"}, ["three"]),
        ({"start-at": "mark", "end-at": "three"}, ["two # mark", "three"]),
        ({"start-after": "nowhere"}, []),
    ],
)
def test_options_of_restructuredtext_choose_lines(options: dict[str, str], expected: list[str]) -> None:
    assert chosen(Directive(0, 1, "a.rst", False, options=options), LINES, Form.RST) == expected


TAGGED = "// tag::x[]\nfirst\n// end::x[]\n== Head\n// tag::y[]\nsecond\n// end::y[]\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tag": "x"}, ["first"]),
        ({"tags": "x;y"}, ["first", "second"]),
        ({"lines": "2;4..-1", "leveloffset": "+1"}, ["first", "=== Head", "second"]),
        ({}, ["first", "== Head", "second"]),
    ],
)
def test_options_of_asciidoc_choose_tags_and_lines(options: dict[str, str], expected: list[str]) -> None:
    assert chosen(Directive(0, 1, "a", False, options=options), TAGGED, Form.ASCIIDOC) == expected


def test_code_is_shown_as_a_block_of_its_language() -> None:
    code = Directive(0, 1, "a.py", True, indent="  ")
    assert placed(code, ["x = 1", "", "y"], Form.RST) == [
        "", "  .. code-block:: python", "", "     x = 1", "", "     y", "",
    ]  # fmt: skip
