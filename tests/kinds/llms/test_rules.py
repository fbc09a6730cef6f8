"""Reading llms.txt and llms-full.txt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.kinds.llms import rules as llms
from rowen.kinds.llms.rules import Entry

BASE = "https://site.example/llms.txt"

LIST = """\
# Barley

> Everything about barley.

Read [the guide](/guide.md) first.

## Docs

- [Sowing](/docs/sow.md): When and *how* to sow
* [Reaping](https://site.example/docs/reap.html.md) - the harvest
- **[Bold](docs/bold.md)**
- no link here
- [Elsewhere](https://other.example/x.md): not ours

### Deeper

- [Deep](/docs/deep.md):   two   spaces

## Optional

- [History](/docs/history(1).md#top): old times
- [Sowing](/docs/sow.md): listed again

```
- [Code](/code.md)
```
"""


def test_a_list_is_read_with_sections_and_notes() -> None:
    assert llms.parse(LIST, BASE) == [
        Entry("https://site.example/docs/sow.md", "Docs", "When and *how* to sow"),
        Entry("https://site.example/docs/reap.html.md", "Docs", "the harvest"),
        Entry("https://site.example/docs/bold.md", "Docs"),
        Entry("https://other.example/x.md", "Docs", "not ours"),
        Entry("https://site.example/docs/deep.md", "Docs", "two spaces"),
        Entry("https://site.example/docs/history(1).md", "Optional", "old times", optional=True),
    ]


def test_metadata_says_only_what_the_list_says() -> None:
    assert Entry("https://a.example/", "Docs", "a note").metadata == {"section": "Docs", "note": "a note"}
    assert Entry("https://a.example/", "Optional", optional=True).metadata == {
        "section": "Optional",
        "optional": True,
    }
    assert Entry("https://a.example/").metadata == {}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (LIST, True),
        ("\ufeff\n# Title\n\n[a](b.md)", True),
        ("# Title without links", False),
        ("Not found", False),
        ("<!DOCTYPE html><h1># x</h1><a href='[a](b)'>", False),
        ("## Second level\n[a](b.md)", False),
    ],
)
def test_a_list_has_a_title_and_links(text: str, is_one: bool) -> None:
    assert llms.looks_like(text) is is_one


def parts(text: str) -> list[tuple[str, str]]:
    return [(part.reference, part.text) for part in llms.parts(text, "https://s.example/llms-full.txt")]


def test_documents_with_source_lines_are_cut_at_their_titles() -> None:
    text = "# A\nSource: https://s.example/a\n\nAlpha.\n\n# Inner\n\nStill A.\n\n# B\n\nURL: <https://s.example/b>\nBeta.\n"
    assert parts(text) == [
        ("https://s.example/a", "# A\n\nAlpha.\n\n# Inner\n\nStill A.\n"),
        ("https://s.example/b", "# B\n\nBeta.\n"),
    ]


def test_what_stands_above_the_first_source_is_a_document_of_its_own() -> None:
    assert parts("# Site\n\nHello.\n\nA.\n\nB.\n\nC.\n\n# A\nSource: https://s.example/a\nAlpha") == [
        ("https://s.example/llms-full.txt#site", "# Site\n\nHello.\n\nA.\n\nB.\n\nC.\n"),
        ("https://s.example/a", "# A\nAlpha\n"),
    ]


def test_a_url_in_running_text_begins_no_document() -> None:
    text = "# A\nSource: https://s.example/a\nx\n\n" + "word\n" * 6 + "URL: https://api.example/v1\nmore\n"
    assert [reference for reference, _ in parts(text)] == ["https://s.example/a"]


def test_source_lines_without_titles_are_borders_themselves() -> None:
    text = "Source: https://s.example/a\nAlpha\n\nSource: https://s.example/b\nBeta\n"
    assert parts(text) == [("https://s.example/a", "Alpha\n"), ("https://s.example/b", "Beta\n")]


def test_without_source_lines_every_title_begins_a_document() -> None:
    text = "preface\n\n# First One\n\na\n\n```sh\n# a comment\n```\n\n# Second\n\nb\n\n# Second\n\nc\n"
    assert parts(text) == [
        (
            "https://s.example/llms-full.txt#first-one",
            "preface\n\n# First One\n\na\n\n```sh\n# a comment\n```\n",
        ),
        ("https://s.example/llms-full.txt#second", "# Second\n\nb\n"),
        ("https://s.example/llms-full.txt#second-2", "# Second\n\nc\n"),
    ]


def test_a_file_without_titles_is_one_document() -> None:
    assert parts("just text\nand more") == [("https://s.example/llms-full.txt", "just text\nand more\n")]
    assert parts(" \n\n") == []


@given(st.lists(st.sampled_from(["# A", "# B", "Source: https://s.example/x", "text", "", "```", "## C"])))
def test_no_line_of_text_is_lost_and_references_are_unique(lines: list[str]) -> None:
    found = llms.parts("\n".join(lines), "https://s.example/llms-full.txt")
    kept = [line for part in found for line in part.text.split("\n") if line == "text"]
    assert len(kept) == lines.count("text")
    assert len({part.reference for part in found}) == len(found)


@pytest.mark.parametrize(
    ("content_type", "url", "expected"),
    [
        ("text/markdown; charset=utf-8", "https://a.example/x", True),
        ("text/plain", "https://a.example/x.html", True),
        ("application/octet-stream", "https://a.example/x.md", True),
        ("application/octet-stream", "https://a.example/x", False),
        ("", "https://a.example/x.txt?v=1", True),
        ("text/html", "https://a.example/x.md", False),
        ("application/pdf", "https://a.example/x.md", False),
    ],
)
def test_markdown_is_known_by_type_then_by_name(content_type: str, url: str, expected: bool) -> None:
    assert llms.is_markdown(content_type, url) is expected


def test_twins_lie_beside_their_page() -> None:
    assert llms.twins("https://a.example/x.html") == ("https://a.example/x.html.md", "https://a.example/x.md")
    assert llms.twins("https://a.example/x") == ("https://a.example/x.md",)
    assert "https://a.example/x/index.html.md" in llms.twins("https://a.example/x/")
    assert "https://a.example/x.md" in llms.twins("https://a.example/x/")
