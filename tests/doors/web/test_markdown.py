"""Fetched text as HTML: what is on the list, and nothing else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rowen.doors.web.markdown import PLAIN, _tokens, blocks, html
from rowen.doors.web.words import coded, marked

OURS = {*PLAIN, "a", "b", "br", "code", "hr", "mark", "pre", "span"}


def elements(text: str) -> set[str]:
    return {name.lower() for name in re.findall(r"<\s*/?\s*([a-zA-Z!][\w-]*)", text)}


def test_what_people_write_is_shown() -> None:
    table = "|a|b|\n|-|-|\n|1|2|\n"
    made = html(f"*text*, `code`, a [link](https://example.org/a?b=1&c=2)\n\n- one\n- two\n\n{table}")
    assert "<em>text</em>" in made and "<code>code</code>" in made and "<li>" in made and "<td>1</td>" in made
    assert '<a href="https://example.org/a?b=1&amp;c=2" rel="noreferrer noopener">link</a>' in made


def test_html_of_the_source_is_text() -> None:
    made = html("<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> <b onclick=x>bold</b>")
    assert elements(made) <= {"p"} and "&lt;script&gt;" in made


def test_images_are_named_and_never_loaded() -> None:
    made = html("![a tracker](https://evil.example/pixel.gif)")
    assert "<img" not in made and "pixel.gif" not in made and "[image: a tracker]" in made


def test_links_lead_to_the_web_or_nowhere() -> None:
    for target in (
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "/relative",
        "#here",
        "vbscript:x",
    ):
        assert "<a" not in html(f"[text]({target})"), target


def test_the_words_looked_for_are_marked_in_text_and_code() -> None:
    made = html("Cancel the task with `task.cancel()`", terms=["cancel"])
    assert made.count("<mark>") == 2


def test_matched_words_of_a_snippet_are_marks_and_nothing_else_is_an_element() -> None:
    shown = marked("a «<b>» <c>", [(0, 1), (3, 6)])
    assert shown == "<mark>a</mark> «<mark>&lt;b&gt;</mark>» &lt;c&gt;"
    assert marked("<i>", []) == "&lt;i&gt;"
    assert coded("`<x>` and <y>") == "<code>&lt;x&gt;</code> and &lt;y&gt;"


def test_a_comment_in_long_code_begins_no_block() -> None:
    code = "\n\n".join(f"# Step {number}\n" + "run()\n" * 60 for number in range(40))
    (block,) = blocks(f"# Title\n\n```\n{code}\n```\n")
    assert block[0].heading == "Title" and block[1].count("# Step") == 40


def test_a_text_is_parsed_once_for_all_words_that_are_marked_in_it() -> None:
    _tokens.cache_clear()
    shown = [html("Cancel the *task*", terms=[word]) for word in ("cancel", "task", "cancel")]
    assert shown[0] == shown[2] != shown[1] and _tokens.cache_info().misses == 1


def test_parts_of_a_long_section_are_one_block() -> None:
    long = "# Title\n\n" + "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(40))
    (block,) = blocks(long)
    assert blocks(long) is blocks(long), "a text is cut once for all keys that show it"
    assert block[0].heading == "Title" and "Paragraph 39" in block[1] and "# Title" not in block[1]


@given(st.text(alphabet="<>\"'&=/ `*[]()!#|-_~\nabjsrciptonhre:\\;", max_size=120))
def test_whatever_comes_only_our_elements_are_written(text: str) -> None:
    made = str(html(text, terms=["a"]))
    assert elements(made) <= OURS
    for tag in re.findall(r"<[a-z][^>]*>", made):
        assert re.fullmatch(
            r'<(?:[a-z]+|a href="https?://[^"]*" rel="noreferrer noopener"'
            r'|span class="soft"|pre tabindex="0")>',
            tag,
            re.I,
        ), tag
