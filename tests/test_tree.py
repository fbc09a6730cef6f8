"""The tree as ARCHITECTURE.md draws it, and what a folder may be."""

from __future__ import annotations

import ast
from collections import Counter

from scripts import tree
from tests.support.doc_blocks import ROOT

SOURCE = ROOT / "src" / "rowen"
LISTS = {"doors/cli/commands", "kinds/api/presets"}
"""Folders that are lists of like things; a person looks a name up there instead of reading all."""


def test_the_page_shows_the_tree_as_it_is() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert page == tree.page_with_tree(page), "run `make reference`"


def test_every_folder_says_what_it_is_about() -> None:
    packages = [path for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    silent = [
        path.parent.relative_to(SOURCE).as_posix()
        for path in packages
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_no_folder_has_more_files_than_a_person_sees_at_a_glance() -> None:
    files = Counter(
        path.parent.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py"
    )
    assert {folder: count for folder, count in files.items() if count > 14 and folder not in LISTS} == {}
