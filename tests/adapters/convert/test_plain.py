"""Markdown and plain text."""

from __future__ import annotations

from rowen.adapters.convert.plain import convert_markdown, convert_plain

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


def test_markdown_without_a_title_is_called_by_its_name() -> None:
    assert convert_markdown("text", _URL).title == "page.md"


def test_plain_text_is_called_by_its_first_line() -> None:
    converted = convert_plain("\n  Read me  \r\nmore\0", "https://docs.example.org/README.txt")
    assert (converted.title, converted.text) == ("Read me", "\n  Read me  \nmore\ufffd\n")
    assert convert_plain("word " * 100, "https://docs.example.org/README.txt").title == "README.txt"
