"""Grid tables of reStructuredText as rows of cells."""

from __future__ import annotations

from itertools import pairwise


def grid_rows(lines: list[str]) -> list[list[str]] | None:
    """The rows of a grid, the head first; None where cells span others, which Markdown cannot write."""
    border = lines[0].rstrip()
    walls = [at for at, mark in enumerate(border) if mark == "+"]
    rows: list[list[str]] = []
    has_head = opens = False
    for line in lines:
        line = line.rstrip()
        if len(line) != len(border) or any(line[at] not in "+|" for at in walls):
            return None
        if line.startswith("+"):
            if any(line[at] != "+" for at in walls) or line.strip("+-="):
                return None
            has_head = has_head or ("=" in line and len(rows) == 1)
            opens = True
            continue
        cells = [line[low + 1 : high].strip() for low, high in pairwise(walls)]
        if opens:
            rows.append(cells)
            opens = False
        else:
            rows[-1] = [f"{above}\n{cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
    if rows and not has_head:
        rows.insert(0, [""] * len(rows[0]))
    return rows or None
