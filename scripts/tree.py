"""Print the folders of the source with what each is about, as ARCHITECTURE.md shows them.

The sentences are the first lines of the packages themselves. `--write` puts the tree into ARCHITECTURE.md
between its two marks; a test compares both.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rowen"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN = "<!-- the tree, written by scripts/tree.py -->\n"
END = "<!-- end of the tree -->\n"
WIDTH = 28


def lines(folder: Path, depth: int = 0) -> list[str]:
    """One line for each package below a folder, in the order of names."""
    found = []
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        sentence = (ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or "").split(
            "\n\n"
        )[0]
        name = "  " * depth + package.name + "/"
        found.append(f"{name:<{WIDTH}} {' '.join(sentence.split())}")
        found += lines(package, depth + 1)
    return found


def tree() -> str:
    return "```text\n" + "\n".join(["src/rowen/", *lines(SOURCE, 1)]) + "\n```\n"


def page_with_tree(page: str) -> str:
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + tree() + END + tail


def main() -> None:
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page_with_tree(PAGE.read_text("utf-8")), "utf-8")
    else:
        print(tree(), end="")


if __name__ == "__main__":
    main()
