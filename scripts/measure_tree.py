"""The size and shape of the source tree: lines, files, wide folders, words to avoid, the Store port.

    python scripts/measure_tree.py [CHECKOUT] [--json]

Reads the files under `src/rowen` and imports none of them. A folder's width is the number of Python and SQL
files that lie in it directly, without `__init__.py`; folders of migrations are left out. The methods of a
Protocol are its own and those it inherits from other Protocols of `ports/`. The topics of the Store port are
the Protocols that `Store` inherits. Whether a folder is one topic, or a name is a good one, is not measured.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

WIDE = 14
"""Folders with more files than this are marked."""
SHOWN = 12
AVOIDED = re.compile(r"\b(nobody|somebody|whoever|whatever)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    bases: tuple[str, ...]
    own: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class StorePort:
    methods: int
    own_methods: int
    """Methods that belong to no topic: only a function that asks for the whole Store can call them."""
    topics: dict[str, int]

    @property
    def median(self) -> float:
        return statistics.median(self.topics.values()) if self.topics else 0

    @property
    def largest(self) -> int:
        return max(self.topics.values(), default=0)


def protocols(ports: Path) -> dict[str, Protocol]:
    """By name. Two of one name: the one in `ports/store` counts."""
    found: dict[str, Protocol] = {}
    files = sorted(ports.rglob("*.py"), key=lambda path: (path.is_relative_to(ports / "store"), path))
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = tuple(name for base in node.bases if (name := _name(base)))
                methods = (
                    one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
                )
                if "Protocol" in bases:
                    own = frozenset(one.name for one in methods)
                    found[node.name] = Protocol(bases=bases, own=own)
    return found


def _name(base: ast.expr) -> str:
    """`Protocol`, also as `typing.Protocol` and `Protocol[T]`."""
    if isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""


def store_port(ports: Path) -> StorePort:
    known = protocols(ports)

    def ancestors(name: str) -> set[str]:
        bases = [base for base in known[name].bases if base in known]
        return {*bases, *(one for base in bases for one in ancestors(base))}

    def methods(name: str) -> set[str]:
        return {method for one in (name, *ancestors(name)) for method in known[one].own}

    topics = {name: len(methods(name)) for name in sorted(ancestors("Store"))}
    return StorePort(methods=len(methods("Store")), own_methods=len(known["Store"].own), topics=topics)


def measure(checkout: Path) -> dict[str, Any]:
    root = checkout / "src" / "rowen"
    python, sql = sorted(root.rglob("*.py")), sorted(root.rglob("*.sql"))
    lines = {path: path.read_text("utf-8").splitlines() for path in (*python, *sql)}
    counted = [path for path in lines if path.name != "__init__.py" and path.parent.name != "migrations"]
    widths = Counter(path.parent.relative_to(root).as_posix() for path in counted)
    port = store_port(root / "ports")
    return {
        "python_lines": sum(len(lines[path]) for path in python),
        "python_and_sql_lines": sum(map(len, lines.values())),
        "python_files": len(python),
        "python_and_sql_files": len(lines),
        "lines_with_avoided_words": sum(bool(AVOIDED.search(line)) for one in lines.values() for line in one),
        "widths": dict(widths.most_common()),
        "wide_folders": sum(width > WIDE for width in widths.values()),
        "store_port": asdict(port) | {"median_topic": port.median, "largest_topic": port.largest},
    }


def show(found: dict[str, Any]) -> None:
    port, widths = found["store_port"], found["widths"]
    rows = {
        "lines of Python": found["python_lines"],
        "lines of Python and SQL": found["python_and_sql_lines"],
        "files of Python": found["python_files"],
        "files of Python and SQL": found["python_and_sql_files"],
        "lines with words to avoid": found["lines_with_avoided_words"],
        "folders": len(widths),
        f"folders with more than {WIDE} files": found["wide_folders"],
        "methods of Store": port["methods"],
        "  in no topic": port["own_methods"],
        "  topics": len(port["topics"]),
        "  methods of a topic, median": port["median_topic"],
        "  methods of a topic, largest": port["largest_topic"],
    }
    for title, value in rows.items():
        print(f"{title:<34}{value:>9,}")
    print(f"\n{'the widest folders':<34}{'files':>9}")
    for folder, width in list(widths.items())[:SHOWN]:
        print(f"{folder:<34}{width:>9}{'  wide' if width > WIDE else ''}")
    print(f"\n{'topics of Store':<34}{'methods':>9}")
    for topic, count in sorted(port["topics"].items(), key=lambda item: -item[1]):
        print(f"{topic:<34}{count:>9}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).resolve().parents[1])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.checkout.resolve())
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)


if __name__ == "__main__":
    main()
