"""References as a tree of folders."""

from __future__ import annotations

from rowen.core.web.folders import folders_under

SITE = [
    "https://d.example/",
    "https://d.example/guide",
    "https://d.example/guide/install",
    "https://d.example/guide/use/one",
    "https://d.example/guide/use/two",
    "https://d.example/news",
]


def shown(references: list[str], under: str = "") -> list[tuple[str, int, bool]]:
    return [(one.name, one.documents, one.reference is not None) for one in folders_under(references, under)]


def test_a_site_begins_at_its_root_with_folders_first() -> None:
    assert shown(SITE) == [("guide", 4, True), ("", 1, True), ("news", 1, True)]


def test_a_folder_is_looked_into_by_its_path() -> None:
    (guide, *_) = folders_under(SITE)
    assert guide.is_folder
    assert shown(SITE, guide.path) == [("use", 2, False), ("install", 1, True)]


def test_paths_of_files_are_a_tree_too() -> None:
    assert shown(["src/a.py", "src/b.py", "README.md"]) == [("src", 2, False), ("README.md", 1, True)]
    assert shown([]) == []
    assert shown(["one"]) == [("one", 1, True)]
