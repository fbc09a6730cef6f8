"""Notes on what changed: names, signatures, sections, and folders that went."""

from __future__ import annotations

from pathlib import Path

from rowen.core.compare.notes import Note, compared, folder_of, folders, sentence
from rowen.core.compare.outline import outline

PAGE = (Path(__file__).parents[2] / "golden" / "sphinx_class" / "expected.md").read_text("utf-8")


def words(before: str, after: str) -> list[str]:
    return [note.words for note in compared(outline(before), outline(after))]


def test_a_new_parameter_is_named_with_the_name_that_has_it() -> None:
    after = PAGE.replace("async put(jar)", "async put(jar, *, lid=True)")
    assert words(PAGE, after) == ["`pantry.rooms.Larder.put`: new parameter `lid`"]


def test_new_and_removed_names_are_told_with_their_kind() -> None:
    after = PAGE.replace("pantry.rooms.count", "pantry.rooms.total")
    assert words(PAGE, after) == [
        "new function `pantry.rooms.total`",
        "function `pantry.rooms.count` removed",
    ]


def test_what_is_said_about_a_name_may_change_and_its_kind() -> None:
    assert words(PAGE, PAGE.replace("Counts them.", "Counts them all.")) == [
        "text of `pantry.rooms.count` changed"
    ]
    assert words(PAGE, PAGE.replace("#pantry.rooms.count .function", "#pantry.rooms.count .class")) == [
        "`pantry.rooms.count` is a class now, was a function"
    ]


def test_code_that_differs_is_another_text_of_its_name_also_where_the_name_is_defined_twice() -> None:
    code = "# x.py\n\n## def f {.source-function name=x.f}\n\n```python\ndef f(a):\n    return 1\n```\n"
    twice = f"{code}\n## def f {{.source-function name=x.f}}\n\n```python\ndef f(a):\n    return 2\n```\n"
    assert words(code, code.replace("return 1", "return 3")) == ["text of `x.f` changed"]
    assert words(twice, twice.replace("return 2", "return 3")) == ["text of `x.f` changed"]
    assert words("# x.py\n", code) == ["new source function `x.f`"]


def test_sections_are_new_removed_renamed_and_changed() -> None:
    before = "# Guide\n\nWelcome.\n\n## Setup\n\nRun it.\n\n## Old\n\nGone soon.\n\n## Tips\n\nRest.\n"
    after = "# Guide\n\nWelcome!\n\n## Setup\n\nRun it.\n\n## New\n\nFresh.\n\n## Advice\n\nRest.\n"
    assert words(before, after) == [
        "new section New",
        "section Advice renamed",
        "section Old removed",
        "Guide changed",
    ]
    assert words(before, before) == []


def test_a_long_list_of_notes_ends_with_a_number() -> None:
    notes = [Note("section", "added", str(n), f"new section {n}") for n in range(9)]  # type: ignore[arg-type]
    assert sentence(notes, most=2) == "new section 0; new section 1; 7 more"


def test_folders_that_lost_many_pages_are_told_as_folders() -> None:
    gone = [f"https://docs.example.org/legacy/{name}.html" for name in "abc"]
    (one,) = folders([*gone, "https://docs.example.org/new/x.html"])
    assert one.words == "3 pages removed under /legacy"
    assert one.references == tuple(gone)
    assert folder_of("legacy/deep/a.md") == "/legacy/deep"
    assert folder_of("index.md") == "/"
