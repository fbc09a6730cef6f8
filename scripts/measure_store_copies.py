"""How much the two store adapters repeat of each other, in lines of code.

    python scripts/measure_store_copies.py [CHECKOUT] [--blocks] [--json]

Compared are the folders `sqlite` and `postgres` in `adapters/store`, or in `adapters` in a tree from before
they had a common folder, with everything in them but migrations.

Lines are normalised first: no surrounding spaces; no blank lines, comments, docstrings, imports and lines
without a letter or digit (brackets); the databases' names become STORE, `apsw.Connection` and `Transaction`
become DB. A call that is written differently for each database stays different. Then two counts:

    in common    lines that both adapters have, wherever they stand, each as often as both have it
    in blocks    lines in a stretch of at least three that both adapters have in the same order, in any file;
                 of the two adapters, the one with fewer such lines

The first is the wider one: it also finds what was moved or changed in every third line, and some lines that
are alike by accident. The second is stricter. `once` are the lines of `adapters/store/shared`, which exist
once for both.

An issue said of commit 5a88c98 that the two repeat 1,438 of about 3,500 normalised lines, not how they were
counted. Among some thirty ways of normalising, this one was chosen because its 1,429 lines in common, of
PostgreSQL's 3,379 of Python and SQL, lie near; in blocks there are 990. Compare a tree with another by this
script, not with the issue.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

BLOCK = 3
"""So many successive lines are a copy."""
RENAMED = (
    (re.compile(r"sqlite|postgresql|postgres|psycopg", re.IGNORECASE), "STORE"),
    (re.compile(r"\bapsw\.Connection\b|\bTransaction\b"), "DB"),
)
COMMENT = {".py": "#", ".sql": "--"}
Lines = dict[str, list[str]]
"""The normalised lines of each file."""


def normalised(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    dropped = _docstrings_and_imports(text) if path.suffix == ".py" else set()
    kept = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if number in dropped or line.startswith(COMMENT[path.suffix]) or not re.search(r"\w", line):
            continue
        for pattern, name in RENAMED:
            line = pattern.sub(name, line)
        kept.append(line)
    return kept


def _docstrings_and_imports(text: str) -> set[int]:
    dropped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            assert isinstance(node, ast.stmt)
            dropped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return dropped


def read(folder: Path, suffix: str) -> Lines:
    paths = (path for path in sorted(folder.rglob(f"*{suffix}")) if "migrations" not in path.parts)
    return {path.relative_to(folder).as_posix(): normalised(path) for path in paths}


def in_common(one: Lines, other: Lines) -> int:
    return (_bag(one) & _bag(other)).total()


def _bag(lines: Lines) -> Counter[str]:
    return Counter(line for file in lines.values() for line in file)


def in_blocks(one: Lines, other: Lines) -> dict[str, int]:
    """How many lines of each file of `one` lie in a block that `other` has too."""
    known = {block for file in other.values() for _, block in _blocks(file)}
    found = {}
    for name, file in one.items():
        starts = [start for start, block in _blocks(file) if block in known]
        found[name] = len({start + step for start in starts for step in range(BLOCK)})
    return found


def _blocks(file: list[str]) -> list[tuple[int, tuple[str, ...]]]:
    return [(start, tuple(file[start : start + BLOCK])) for start in range(len(file) - BLOCK + 1)]


def measure(checkout: Path) -> dict[str, Any]:
    adapters = checkout / "src" / "rowen" / "adapters"
    home = adapters / "store" if (adapters / "store").is_dir() else adapters
    report: dict[str, Any] = {}
    for suffix in COMMENT:
        sqlite, postgres, shared = (read(home / name, suffix) for name in ("sqlite", "postgres", "shared"))
        ours, theirs = in_blocks(sqlite, postgres), in_blocks(postgres, sqlite)
        report[suffix] = {
            "sqlite": _bag(sqlite).total(),
            "postgres": _bag(postgres).total(),
            "in_common": in_common(sqlite, postgres),
            "in_blocks": min(sum(ours.values()), sum(theirs.values())),
            "once": _bag(shared).total(),
        }
        report[f"blocks{suffix}"] = {name: count for name, count in ours.items() if count}
    report["both"] = {key: sum(report[suffix][key] for suffix in COMMENT) for key in report[".py"]}
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).resolve().parents[1])
    parser.add_argument("--blocks", action="store_true", help="also the lines in blocks by file of SQLite")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = measure(options.checkout.resolve())
    if options.json:
        print(json.dumps(report, indent=2))
        return
    titles = [title.replace("_", " ") for title in report["both"]]
    print(f"{'lines of code':<18}" + "".join(f"{title:>12}" for title in titles))
    for row, title in ((".py", "Python"), (".sql", "SQL"), ("both", "both")):
        print(f"{title:<18}" + "".join(f"{value:>12,}" for value in report[row].values()))
    for suffix in COMMENT if options.blocks else ():
        print()
        for name, count in sorted(report[f"blocks{suffix}"].items(), key=lambda item: -item[1]):
            print(f"{name:<30}{count:>12,}")


if __name__ == "__main__":
    main()
