"""Files that Markdown includes, in the ways of several tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.kinds.listing.includes.rules import Directive, Form, candidates, chosen, directives, placed
from rowen.managing import sources
from tests.kinds.files.test_kind import write
from tests.support.site import Site
from tests.support.world import World, a_world


def found(text: str) -> list[Directive]:
    return list(directives(text.splitlines(), Form.MARKDOWN))


def put(text: str, included: str) -> str:
    """The text with what it includes, all of it from one file."""
    lines, out, at = text.splitlines(), [], 0
    for one in directives(lines, Form.MARKDOWN):
        out += [*lines[at : one.start], *placed(one, chosen(one, included, Form.MARKDOWN), Form.MARKDOWN)]
        at = one.end
    return "\n".join([*out, *lines[at:]])


CODE = "1\n// ANCHOR: b\n3\n// ANCHOR: c\n5\n// ANCHOR_END: c\n// ANCHOR_END: b\n8\n"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("{{#include a.rs}}", "1 3 5 8"),
        ("{{#include a.rs:b}}", "3 5"),
        ("{{#rustdoc_include ../a.rs:c}}", "5"),
        ("{{#include a.rs:8}}", "8"),
        ("{{#include a.rs:8:}}", "8"),
        ("{{#include a.rs::1}}", "1"),
        ('--8<-- "a.rs:3:3"', "3"),
        ('-8<- "a.rs"', "1 3 5 8"),
        ("{!a.rs!}", "1 3 5 8"),
        ("{!> ../../a.rs [ln:1,8]!}", "1 8"),
    ],
)
def test_a_line_becomes_the_part_of_the_file_it_asks_for(line: str, lines: str) -> None:
    assert put(f"```rust\n{line}\n```", CODE) == "```rust\n" + lines.replace(" ", "\n") + "\n```"


def test_code_outside_a_fence_gets_one_of_its_own() -> None:
    assert put("{* ../a.py ln[1:1] hl[1] *}", CODE) == "```python\n1\n```"
    assert put("  <<< @/a.ts#c{1 js}", CODE) == "  ```js\n  5\n  ```"
    assert put("{{#playground a.rs:c}}", CODE) == "```rust\n5\n```"
    assert put("```{literalinclude} a.py\n:lines: 8\n```\nText.", CODE) == "```python\n8\n```\nText."


def test_options_of_myst_may_stand_between_two_lines() -> None:
    options = "---\nlanguage: python\nlines: '3-5'\nlinenos:\n---"
    assert put(f"```{{literalinclude}} a.rs\n{options}\n```\nText.", CODE) == (
        "```python\n3\n// ANCHOR: c\n5\n```\nText."
    )


def test_a_fence_is_longer_than_those_in_the_code_it_holds() -> None:
    assert put("<<< @/a.py", "'''\n```\n'''\n") == "````python\n'''\n```\n'''\n````"


def test_stretches_of_other_tools_are_found_by_their_names() -> None:
    assert put('--8<-- "a.py:b"', "# --8<-- [start:b]\nx = 1\n# --8<-- [end:b]\ny = 2\n") == "x = 1"
    assert put("<<< a.js#b", "// #region b\nx\n// #endregion b\ny\n") == "```javascript\nx\n```"
    assert put("<!-- @include: a.md#b -->", "<!-- #region b -->\nx\n<!-- #endregion -->\n") == "x"


def test_files_between_two_marks_are_included_one_after_the_other() -> None:
    text = "A\n--8<--\na.md\nb.md:2:2\n--8<--\nB"
    assert [(one.path, one.options) for one in found(text)] == [("a.md", {}), ("b.md", {"lines": "2-2"})]
    assert put(text, "1\n2\n") == "A\n1\n2\n2\nB"


def test_markdown_comes_without_its_front_matter() -> None:
    assert put("{!a.md!}", "---\ntitle: A\n---\nText.\n") == "Text."


@pytest.mark.parametrize(
    "line",
    [
        "\\{{#include a.rs}}",
        ";--8<-- 'a.rs'",
        "See {!a.rs!} there.",
        "{{#title Book}}",
        "1 <<< 3",
        "```{note} a.md",
        "{% include a.md %}",
    ],
)
def test_what_is_escaped_or_in_a_sentence_includes_nothing(line: str) -> None:
    assert found(line) == []


def test_an_example_of_an_include_stays_in_its_block_of_code() -> None:
    assert found("```md\n<<< @/a.ts#b{2}\n```") == []
    assert found("````md\n```{include} a.md\n```\n````") == []
    assert [one.path for one in found("::: code-group\n<<< @/a.ts\n:::")] == ["@/a.ts"]


def test_a_file_is_looked_for_from_each_folder_around() -> None:
    assert candidates("a.md", "docs/en/guide/x.md", Form.MARKDOWN) == [
        "docs/en/guide/a.md",
        "docs/en/a.md",
        "docs/a.md",
        "a.md",
    ]
    assert candidates("../../src/a.py", "docs/en/guide/x.md", Form.MARKDOWN) == [
        "docs/src/a.py",
        "src/a.py",
    ]
    assert candidates("https://example.org/a.md", "x.md", Form.MARKDOWN) == []


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    root = tmp_path / "docs"
    (root / "en/guide").mkdir(parents=True)
    (root / "src").mkdir()
    write(root / "en/guide/page.md", "# Guide\n\n{* ../../src/press.py *}\n\n--8<-- 'note.md'\n")
    write(root / "en/note.md", "Barley.\n\n{!deep.md!}\n\n{{#include missing.md}}\n")
    write(root / "en/deep.md", "Rye.\n")
    write(root / "src/press.py", "def press_olives(): ...\n")
    with Site() as unused:
        async with a_world(tmp_path, unused) as made:
            await sources.add(made.ports, str(root), name="docs")
            yield made


@pytest.mark.anyio
async def test_a_page_has_the_code_and_the_parts_it_includes_and_changes_with_them(
    world: World, tmp_path: Path
) -> None:
    first = await world.sync()
    (hit,) = [one for one in (await world.search("press_olives")).hits if one.title == "Guide"]
    assert "def press_olives" in hit.snippet
    assert [one.title for one in (await world.search("rye")).hits if one.title == "Guide"]
    # The page itself, and the note.
    assert first.counters.ignored == {"include_missing": 2}
    assert (await world.sync()).counters.reads == 0
    write(tmp_path / "docs/src/press.py", "def press_grapes(): ...\n")
    assert (await world.sync()).counters.updated == 2
    assert [one.title for one in (await world.search("press_grapes")).hits if one.title == "Guide"]
