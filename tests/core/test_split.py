"""How text becomes sections."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core import hashing
from rowen.core.section import Form, Section, Symbol, cut_out
from rowen.core.split import outline, passages, split
from rowen.core.text.parts import MAX_CHARS, MIN_CHARS
from tests.support.sizes import in_torture

_LINK = "[link](https://example.org/x)"
_WORDS = (
    "alpha",
    "a_b",
    "`code`",
    "**bold**",
    _LINK,
    "1.",
    "-",
    "#",
    ">",
    "|",
    "漢字",
)

_line = st.one_of(
    st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join),
    st.builds(lambda level, words: "#" * level + " " + " ".join(words), st.integers(1, 7),
              st.lists(st.sampled_from(_WORDS), max_size=3)),
    st.sampled_from(["", "", "", "```", "```py", "````", "~~~", "---", "===", "    in", "\t", "## A {#a}"]),
    st.sampled_from(["### `f()` {#m.f .function}", "#### `g` {#m.f.g .method}", "<!-- /m.f -->"]),
    st.integers(1, 3000).map(lambda n: "x" * n),
    st.integers(1, 300).map(lambda n: "A sentence stands here. " * n),
)  # fmt: skip
_markdown = st.lists(_line, max_size=40).map("\n".join)


def _tiles(text: str) -> list[Section]:
    sections = split(text)
    assert "".join(text[s.start : s.end] for s in sections) == (text if text.strip() else "")
    assert [s.position for s in sections] == list(range(len(sections)))
    return sections


@given(st.text())
def test_the_slices_of_any_text_tile_it_exactly(text: str) -> None:
    _tiles(text)


@given(_markdown)
def test_an_outline_has_the_first_part_of_each_section_and_its_whole_slice(text: str) -> None:
    sections, found = split(text), outline(text)
    assert "".join(text[one.start : one.end] for one in found) == (text if text.strip() else "")
    first = {section.start: section for section in sections}
    for one in found:
        section = first[one.start]
        assert (section.level, section.heading, section.heading_path, section.anchor, section.symbol) == one[
            :5
        ]
    begun = {one.start for one in found}
    assert all(
        one.heading_path == sections[i - 1].heading_path
        for i, one in enumerate(sections)
        if one.start not in begun
    )


def _bare(text: str) -> str:
    """Without what a passage may leave out: targets of links, and comments unless they are code."""
    return re.sub("<!-- /.*? -->", "", text.replace(_LINK, "link"))


@given(_markdown)
def test_the_slices_of_markdown_tile_it_exactly_and_none_is_too_long(text: str) -> None:
    for section in _tiles(text):
        assert len(section.text) <= MAX_CHARS
        own, shown = map(_bare, (section.text, text[section.start : section.end]))
        before, found, after = shown.rpartition(own or "\0")
        left = (before + after).strip()
        assert found == own
        # What is not own text is a heading line, possibly with its setext underline.
        assert left.count("\n") <= 1
        if section.level == 0:
            assert not left


_marked = st.lists(
    st.one_of(_line, st.sampled_from([
        'An <a id="x"></a> address [and <a id="y"></a>words](/u)', "<!-- gone -->", "  \n", "![i](p.png) [",
        "<!-- [in](it) --> [a](b)[c](d) `[e](f)`", "[words](/u) <!--", "-->", '<a id="z"></a>',
    ])),
    max_size=20,
).map("\n".join)  # fmt: skip


@given(_marked)
def test_a_section_says_how_its_text_is_cut_out_of_its_slice(text: str) -> None:
    for section in split(text):
        assert cut_out(text[section.start : section.end], section.kept) == section.text


@given(_markdown)
def test_parents_are_earlier_sections_of_a_lower_level_whose_path_is_continued(text: str) -> None:
    sections = split(text)
    for section in sections:
        if section.parent is None:
            assert len(section.heading_path) <= 1
            continue
        parent = sections[section.parent]
        assert parent.position < section.position
        assert parent.level < section.level
        assert section.heading_path[: len(parent.heading_path)] == parent.heading_path


@given(_markdown)
def test_every_section_has_a_passage_and_equal_text_under_an_equal_path_shares_it(text: str) -> None:
    sections = split(text)
    found = passages(sections)
    assert {s.passage_hash for s in sections} == set(found)
    for section in sections:
        passage = found[section.passage_hash]
        assert passage.text == (section.text or section.heading)
        assert passage.hash == hashing.of_text(f"{passage.heading_path}\n{passage.text}")


def test_a_heading_tree_is_flattened_with_paths_and_parents() -> None:
    sections = split(
        "Preface.\n\n# Guide\n\nHello.\n\n### Deep {#deep}\n\nD.\n\n## Install\n\nI.\n\n# Other\n\nO.\n"
    )
    assert [(s.level, s.parent, s.heading_path, s.anchor, s.text) for s in sections] == [
        (0, None, (), None, "Preface."),
        (1, None, ("Guide",), None, "Hello."),
        (3, 1, ("Guide", "Deep"), "deep", "D."),
        (2, 1, ("Guide", "Install"), None, "I."),
        (1, None, ("Other",), None, "O."),
    ]


def test_a_heading_with_no_text_of_its_own_is_found_by_its_heading() -> None:
    sections = split("# Library\n\n## Lists\n\nText.\n")
    assert (sections[0].text, sections[0].heading) == ("", "Library")
    assert passages(sections)[sections[0].passage_hash].text == "Library"


def test_headings_read_as_plain_words() -> None:
    titles = {
        "# `asyncio` — *Asynchronous* I/O": "asyncio — Asynchronous I/O",
        "# [1.2.0](https://example.org/1.2.0) notes": "1.2.0 notes",
        "# `*args` and \\*kw": "*args and *kw",
        "## Closed ##": "Closed",
        "## C\\#": "C#",
        "#": "",
    }
    assert {line: split(line + "\n\ntext")[0].heading for line in titles} == titles


def test_headings_read_without_what_generators_put_in() -> None:
    titles = {
        "## server.jars <Inherited /> {#jars}": "server.jars",
        '## Lids <Badge type="tip" text="^3.4" />': "Lids",
        '## {{% heading "prerequisites" %}}': "prerequisites",
        '## A {{< tooltip term_id="jar" text="glass jar" >}} of `<Jam />` {{< new-in 1.2 />}} now': (
            "A glass jar of <Jam /> now"
        ),
        "## <Content />": "<Content />",
        "## {{< jars >}}": "{{< jars >}}",
        "## Use {{ .Title }} and Jar<Lid>": "Use {{ .Title }} and Jar<Lid>",
    }
    assert {line: split(line + "\n\ntext")[0].heading for line in titles} == titles


def test_what_looks_like_a_heading_inside_a_fence_is_code() -> None:
    text = "# Real\n\n````sh\n# comment\n```\n# still code\n````\n\n## Next\n\n~~~\n# code\n```\n~~~\nafter\n"
    assert [s.heading for s in split(text)] == ["Real", "Next"]


def test_a_fence_indented_in_a_list_is_seen() -> None:
    assert [s.heading for s in split("# A\n\n- x\n\n      ```\n# no\n      ```\n\n# B\n")] == ["A", "B"]


def test_setext_headings_of_foreign_markdown_are_headings() -> None:
    text = (
        "Title\n=====\n\nText.\n\nPart\n----\nMore.\n\n- item\n---\n\ntwo lines\nof text\n---\n\n| a |\n---\n"
    )
    assert [(s.level, s.heading) for s in split(text)] == [(1, "Title"), (2, "Part")]


def test_a_line_too_long_for_a_heading_is_text() -> None:
    assert [s.level for s in split("# " + "word " * 200)] == [0]


def test_blank_text_has_no_sections() -> None:
    assert split("") == split(" \n\t\n") == []


def test_indentation_of_the_first_line_survives() -> None:
    assert split("# A\n\n\n    code\n    more\n\n")[0].text == "    code\n    more"


def _paragraph(rng: random.Random, words: int) -> str:
    return " ".join("".join(rng.choices("abcdefghij", k=rng.randint(2, 9))) for _ in range(words)) + "."


def _long_section(rng: random.Random) -> list[str]:
    return [_paragraph(rng, rng.randint(3, 90)) for _ in range(rng.randint(30, 120))]


def _render(paragraphs: list[str]) -> str:
    return "# Guide\n\n## Long {#long}\n\n" + "\n\n".join(paragraphs) + "\n\n## After\n\nEnd.\n"


def test_parts_of_a_long_section_share_heading_path_level_anchor_and_parent() -> None:
    parts = [s for s in split(_render(_long_section(random.Random(1)))) if s.heading == "Long"]
    assert len(parts) > 5
    assert {(s.level, s.parent, s.heading_path, s.anchor) for s in parts} == {
        (2, 0, ("Guide", "Long"), "long")
    }
    assert all(MIN_CHARS - 2 <= len(s.text) <= MAX_CHARS for s in parts)


def test_long_sections_are_cut_between_paragraphs_only() -> None:
    paragraphs = _long_section(random.Random(2))
    for section in split(_render(paragraphs)):
        if section.heading == "Long":
            assert all(p in paragraphs for p in section.text.split("\n\n"))


@pytest.mark.parametrize("seeds", [range(30), *in_torture(range(30, 150))])
def test_an_edited_paragraph_of_a_very_long_section_makes_at_most_three_new_passages(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        paragraphs = _long_section(rng)
        before = set(passages(split(_render(paragraphs))))
        at = rng.randrange(len(paragraphs))
        edits = (
            [_paragraph(rng, rng.randint(3, 90))],
            [paragraphs[at], _paragraph(rng, 20)],
            [],
            [paragraphs[at].replace("a", "b") + " Added."],
        )
        for edit in edits:
            after = set(passages(split(_render(paragraphs[:at] + edit + paragraphs[at + 1 :]))))
            assert len(after - before) <= 3, (seed, at)


def test_a_fenced_block_that_fits_is_never_cut() -> None:
    rng = random.Random(5)
    blocks = []
    for n in range(40):
        code = "\n".join(f"line_{n}_{i} = {rng.random()}\n" for i in range(rng.randint(5, 50)))
        blocks += [_paragraph(rng, 30), f"```python\n{code}```"]
    for section in split(_render(blocks)):
        assert section.text.count("```") % 2 == 0


def test_a_fenced_block_larger_than_a_part_is_cut_after_lines() -> None:
    code = "".join(f"print({n}, 'a line of code. With a sentence.')\n" for n in range(300))
    text = f"# A\n\n```python\n{code}```\n"
    parts = split(text)
    assert len(parts) > 3
    assert all(text[s.end - 1] == "\n" for s in parts)


def test_a_paragraph_larger_than_a_part_is_cut_after_sentences() -> None:
    rng = random.Random(7)
    text = " ".join(_paragraph(rng, 12) for _ in range(100))
    parts = split(text)
    assert len(parts) > 3
    assert all(s.text.endswith(".") for s in parts)


def test_one_word_larger_than_a_part_is_cut_anywhere() -> None:
    parts = split("x" * (3 * MAX_CHARS + 1))
    assert len(parts) >= 4
    assert all(len(s.text) <= MAX_CHARS for s in parts)


def test_a_text_that_repeats_one_line_is_cut_without_peeling() -> None:
    text = "the same line again\n\n" * 20_000
    assert len(split(text)) < len(text) / MIN_CHARS + 1


API = """\
# Tasks {#tasks}

Before.

## `class TaskGroup()` {#asyncio.TaskGroup .class}

A group.

### `create_task(coro)` {#asyncio.TaskGroup.create_task .method}

Starts one.

<!-- /asyncio.TaskGroup.create_task -->

More about the group.

<!-- /asyncio.TaskGroup -->

After.

## `--quiet` {#cmdoption-q .option name=--quiet}

Says nothing.
"""


def test_a_definition_is_a_section_with_its_symbol_and_ends_where_its_mark_stands() -> None:
    sections = _tiles(API)
    group, create = ("Tasks", "class TaskGroup()"), ("Tasks", "class TaskGroup()", "create_task(coro)")
    assert [(s.heading_path, s.anchor, s.text) for s in sections] == [
        (("Tasks",), "tasks", "Before."),
        (group, "asyncio.TaskGroup", "A group."),
        (create, "asyncio.TaskGroup.create_task", "Starts one."),
        (group, "asyncio.TaskGroup", "More about the group."),
        (("Tasks",), "tasks", "After."),
        (("Tasks", "--quiet"), "cmdoption-q", "Says nothing."),
    ]
    assert [s.symbol for s in sections] == [
        None,
        Symbol("asyncio.TaskGroup", "class"),
        Symbol("asyncio.TaskGroup.create_task", "method"),
        None,
        None,
        Symbol("--quiet", "option"),
    ]


def test_the_end_of_an_unknown_definition_changes_no_path() -> None:
    sections = _tiles("# A\n\none\n\n<!-- /nothing -->\n\ntwo\n")
    assert [(s.heading_path, s.text) for s in sections] == [(("A",), "one"), (("A",), "two")]


def test_a_passage_holds_the_words_of_links_and_not_their_targets() -> None:
    text = (
        'See [the `a[0]` guide](https://a.example/a_(b)?x=1 "title") and ![a plan](https://a.example/p.png).\n\n'
        "```\nfound[index](call)\n```\n\nAs `found[index](call)` says; [two\nlines](<https://a.example/c>)."
    )
    (section,) = split(text)
    assert section.text == (
        "See the `a[0]` guide and a plan.\n\n"
        "```\nfound[index](call)\n```\n\nAs `found[index](call)` says; two\nlines."
    )


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("```\na[0](b)\n```\n\n[c](d)", "```\na[0](b)\n```\n\nc"),  # a fence in the first line
        ("x [c](d)\n  ~~~\n  a[0](b)\n  ~~~", "x c\n  ~~~\n  a[0](b)\n  ~~~"),
        ("```\na[0](b)\n```\n```\na[0](b)\n```\n[c](d)", "```\na[0](b)\n```\n```\na[0](b)\n```\nc"),
        ("a \\[b](c) and [d](e)", "a \\[b](c) and d"),  # an escaped bracket begins no link
        ("a \\![b](c)", "a \\b"),
        ("``a[0](b)`` [c](d)", "``a[0](b)`` c"),
        ("a <!-- [b](c) --> [d](e)", "a  d"),
        (f"[{'w' * 501}](c) [d](e)", f"[{'w' * 501}](c) d"),  # longer than the words of a link may be
    ],
)
def test_what_is_a_link_and_what_is_code(text: str, passage: str) -> None:
    (section,) = split(text)
    assert section.text == passage
    assert cut_out(text[section.start : section.end], section.kept) == passage


def test_a_site_that_moves_to_another_host_keeps_its_passages() -> None:
    here, there = (
        split(f"# A\n\n- [One](https://{host}/one): the first\n- [Two](https://{host}/two)\n")
        for host in ("a.example", "b.example:8080")
    )
    assert [s.passage_hash for s in here] == [s.passage_hash for s in there]


def test_a_section_knows_how_much_of_it_is_links() -> None:
    links, prose, none = split(
        "# A\n\n- [One page](https://a.example/1)\n- [Another](https://a.example/2)\n\n"
        "# B\n\nA long sentence about many things, with one [link](https://a.example/3) in it.\n\n"
        "# C\n\nNone.\n"
    )
    assert links.link_share > 0.8
    assert 0 < prose.link_share < 0.2
    assert none.link_share == 0


def test_a_section_knows_whether_it_is_prose_code_or_a_table() -> None:
    text = "# A\n\nWords.\n\n# B\n\n```py\nprint(1)\n```\n\n# C\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    assert [s.form for s in split(text)] == [Form.PROSE, Form.CODE, Form.TABLE]


def test_hostile_brackets_cost_no_more_than_their_length() -> None:
    for text in (
        "[" * 200_000,
        "[a](" * 50_000,
        "`[" * 100_000,
        "[](" + "(" * 100_000,
        "```\n" * 50_000 + "](",
    ):
        _tiles(text)


@given(st.integers(0, 2**32), st.sampled_from(["https://a.example/", "http://127.0.0.1:41881/deep/er/"]))
def test_where_links_lead_to_changes_no_passage(seed: int, root: str) -> None:
    chance = random.Random(seed)

    def text(address: str) -> str:
        paragraphs = []
        for number in range(40):
            words = " ".join(f"word{chance.randrange(500)}" for _ in range(chance.randrange(5, 60)))
            links = " ".join(f"[link {n}]({address}page{n}.html#x)" for n in range(chance.randrange(12)))
            paragraphs.append(f"{words} {links} `[code]({number})`.")
        return "# Long\n\n" + "\n\n".join(paragraphs)

    state = chance.getstate()
    here = split(text("/"))
    chance.setstate(state)
    there = split(text(root))
    assert [one.passage_hash for one in here] == [one.passage_hash for one in there]
    assert len(here) > 3


def test_comments_are_no_text_except_in_code() -> None:
    code = "```html\n<!-- code -->\n```"
    text = f"# A\n\n<!-- outside: the network -->\nSeen <!-- two\nlines --> by readers.\n\n{code}\n"
    (section,) = split(text)
    assert section.text == f"Seen  by readers.\n\n{code}"
    assert text[section.start : section.end] == text


def test_the_name_of_a_definition_reads_without_escapes_and_ends_at_its_mark() -> None:
    text = "# T\n\n## `SET(a[=b])` {.value name=SET(a\\[=b\\])}\n\nSets.\n\n<!-- /SET(a[=b]) -->\n\nAfter.\n"
    sections = _tiles(text)
    assert [(s.heading_path, s.symbol) for s in sections][1:] == [
        (("T", "SET(a[=b])"), Symbol("SET(a[=b])", "value")),
        (("T",), None),
    ]
