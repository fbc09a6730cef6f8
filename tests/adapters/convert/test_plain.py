"""Markdown and plain text."""

from __future__ import annotations

import pytest

from rowen.adapters.convert.plain import convert_markdown, convert_plain
from rowen.core.section import Symbol
from rowen.core.split import split

_URL = "https://docs.example.org/guide/page.md"


def test_markdown_stays_as_it_is() -> None:
    text = "# Title\n\nA  *paragraph*  \nwith <b>HTML</b>.\n\n\n\n```\n# code\n```\n"
    converted = convert_markdown(text.replace("\n", "\r\n"), _URL)
    assert (converted.title, converted.text) == ("Title", text)


def test_front_matter_gives_title_and_description_and_is_no_text() -> None:
    converted = convert_markdown(
        '---\ntitle: "Install: now"\ndescription: How to.\ntags:\n  - a\n---\n\nText.\n', _URL
    )
    assert converted.title == "Install: now"
    assert converted.text == "# Install: now\n\nText.\n"
    assert converted.metadata == {"description": "How to."}


def test_a_title_of_front_matter_does_not_repeat_a_heading() -> None:
    assert convert_markdown("---\ntitle: T\n---\n# Heading\n", _URL).text == "# Heading\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## What is it?\n\nText.\n\n### More\n\nText.\n", "What is it?"),
        ('<!-- Old link -->\n<a id="it"></a>\n\n## What is it?\n\nText.\n', "What is it?"),
        (f"## What is it?\n\n{'A long text. ' * 300}\n\n### More\n\nText.\n", "What is it?"),
        ("## What is it?\n\nText.\n\n## What next?\n\nText.\n", "page.md"),
        ("### Deep\n\nText.\n\n## Less deep\n\nText.\n", "page.md"),
        ("A page about nothing.\n\n## Usage\n\nText.\n", "page.md"),
    ],
)
def test_a_page_is_called_by_the_heading_it_begins_with_if_all_others_are_below_it(
    text: str, title: str
) -> None:
    converted = convert_markdown(text, _URL)
    assert (converted.title, converted.text) == (title, text)


def test_two_rules_around_a_sentence_are_not_front_matter() -> None:
    text = "---\nJust a sentence\n---\n\nText.\n"
    assert convert_markdown(text, _URL).text == text


def test_links_of_markdown_are_found_outside_code_and_resolved() -> None:
    converted = convert_markdown(
        """# T

[inline](a.md#x "title"), [nested [brackets]](b.md), <https://c.example.org/>, ![image](no.png),
[reference][r], `[code](no1.md)`, [parens](https://e.example.org/x_(y)), [angle](<f g.md>), [again](a.md)

```md
[fenced](no2.md)
```

[r]: ../d.md
""",
        _URL,
    )
    assert converted.links == (
        "https://docs.example.org/guide/a.md",
        "https://docs.example.org/guide/b.md",
        "https://c.example.org/",
        "https://e.example.org/x_(y)",
        "https://docs.example.org/guide/f%20g.md",
        "https://docs.example.org/d.md",
    )


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("## Files { #files }", "## Files {#files}"),
        ("## Files {: #files .wide }", "## Files {#files}"),
        ("## Files {.unnumbered #files data-x='a b'}", "## Files {#files}"),
        ("## Files {#files .unnumbered}", "## Files {#files}"),
        ("## Files {.no_toc}", "## Files"),
        ("Files { #files }\n===", "Files {#files}\n==="),
        ("## GET /files/{name}", "## GET /files/{name}"),
        ("## A set {a, #b}", "## A set {a, #b}"),
        ("Text { #files }", "Text { #files }"),
        ("```\n## Files { #files }\n```", "```\n## Files { #files }\n```"),
    ],
)
def test_attributes_of_a_heading_are_its_anchor_and_nothing_else(written: str, kept: str) -> None:
    text = "# T\n\n{}\n\nEnd.\n"
    assert convert_markdown(text.format(written), _URL).text == text.format(kept)


def test_a_class_of_a_heading_makes_it_no_definition() -> None:
    converted = convert_markdown("# Title { #title .hidden }\n\nText.\n", _URL)
    (section,) = split(converted.text)
    assert (converted.title, section.anchor, section.symbol) == ("Title", "title", None)


@pytest.mark.parametrize(
    ("marks", "anchor", "symbol"),
    [
        ("{#tasks.start .function}", "tasks.start", Symbol("tasks.start", "function")),
        ("{#GUC-START .setting name=start}", "GUC-START", Symbol("start", "setting")),
        ("{#t .term name=cold start}", "t", Symbol("cold start", "term")),
        ("{.command name=start}", None, Symbol("start", "command")),
        # Other programs write braces too, and their classes say how a heading looks.
        ("{#start .wide}", "start", None),
        ("{#start .wide name=cold start}", "start", None),
        ("{.wide name=start}", None, None),
        ("{ #start .function }", "start", None),
        ("{#start .details}", "start", None),
    ],
)
def test_a_markdown_heading_defines_a_name_by_marks_of_a_kind_we_know(
    marks: str, anchor: str | None, symbol: Symbol | None
) -> None:
    converted = convert_markdown(f"# T\n\n## `start()` {marks}\n\nStarts.\n", _URL)
    section = split(converted.text)[-1]
    assert (section.heading, section.anchor, section.symbol) == ("start()", anchor, symbol)


def test_markdown_without_a_title_is_called_by_its_name() -> None:
    assert convert_markdown("text", _URL).title == "page.md"


def test_plain_text_is_called_by_its_first_line() -> None:
    converted = convert_plain("\n  Read me  \r\nmore\0", "https://docs.example.org/README.txt")
    assert (converted.title, converted.text) == ("Read me", "\n  Read me  \nmore\ufffd\n")
    assert convert_plain("word " * 100, "https://docs.example.org/README.txt").title == "README.txt"


@pytest.mark.parametrize(
    ("front", "title", "metadata"),
    [
        ("---\ntitle: 'It''s new'\n---", "It's new", {}),
        ('---\ntitle: "The \\"best\\" one"\n---', 'The "best" one', {}),
        ("---\ntitle: >-\n  Folded over\n  lines\nlang: de\n---", "Folded over lines", {"lang": "de"}),
        ("---\ntitle: T\ndescription: |\n---", "T", {}),
        (
            '+++\ntitle = "In TOML"\ndescription = """\nTwo\nlines\n"""\ntags = ["a"]\n+++',
            "In TOML",
            {"description": "Two lines"},
        ),
        ("+++\ntitle = 3\n+++", "page.md", {}),
    ],
)
def test_front_matter_is_read_in_yaml_and_toml(front: str, title: str, metadata: dict[str, str]) -> None:
    converted = convert_markdown(f"{front}\n\nText.\n", _URL)
    assert (converted.title, converted.metadata) == (title, metadata)
    assert converted.text == ("Text.\n" if title == "page.md" else f"# {title}\n\nText.\n")


@pytest.mark.parametrize("text", ["+++\nnot TOML\n+++\nText.\n", "+++\nno end\n", "+++\n"])
def test_plus_signs_that_are_no_toml_are_text(text: str) -> None:
    assert convert_markdown(text, _URL).text == text


@pytest.mark.parametrize("first", ["---", "{{/*", "/*"])
def test_a_line_without_a_letter_is_no_title(first: str) -> None:
    assert convert_plain(f"{first}\nwords\n", "https://docs.example.org/notes.txt").title == "notes.txt"
