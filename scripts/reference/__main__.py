"""`python -m scripts.reference [--check]`."""

from __future__ import annotations

import sys

from scripts.reference import FOLDER, pages


def main() -> int:
    made = pages()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"docs/reference/{path.name} is not current: run `make reference`", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(made[path], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
