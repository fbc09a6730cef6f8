"""Markdown of the reference: tables, and the mark of a page that is written by a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WRITTEN = "Generated from the code by `scripts/reference/`; do not edit. `make reference` writes it again.\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        + "\n"
    )


def one_line(text: str) -> str:
    return " ".join(text.split())
