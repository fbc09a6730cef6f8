"""Lines of reStructuredText: where headings, bodies and tables begin and end."""

from __future__ import annotations

import re

UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
TABLE_LINE = re.compile(r"[ \t]*(?:\+[-=]{2,}[-=+]*\+|={2,}(?:[ \t]+=+)+)[ \t]*$")
MIN_UNDERLINE = 4


def heading_at(lines: list[str], at: int) -> tuple[str, tuple[str, bool], int] | None:
    """Title, style and the line after a heading that begins here."""
    if at >= len(lines):
        return None
    over = UNDERLINE.match(lines[at])
    if over is not None and at + 2 < len(lines):
        title, under = lines[at + 1].strip(), lines[at + 2].rstrip()
        if title and under == lines[at].rstrip() and len(under) >= min(len(title), MIN_UNDERLINE):
            return title, (over[1], True), at + 3
    title = lines[at].rstrip()
    if at + 1 >= len(lines) or title[0] == " " or over is not None:
        return None
    under_match = UNDERLINE.match(lines[at + 1])
    if under_match is None or len(lines[at + 1].rstrip()) < min(len(title), MIN_UNDERLINE):
        return None
    if TABLE_LINE.match(lines[at + 1]):
        return None
    return title, (under_match[1], False), at + 2


def end_of_body(lines: list[str], at: int, indent: int) -> int:
    """Past every line that is indented more, and the blank ones between them."""
    end = at
    for number in range(at, len(lines)):
        line = lines[number]
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            end = number + 1
    return end


def end_of_table(lines: list[str], at: int) -> int:
    if lines[at].lstrip().startswith("+"):
        end = at
        while end < len(lines) and lines[end].lstrip().startswith(("+", "|")):
            end += 1
        return end
    # A simple table ends with its second or third border, before a blank line.
    end = at + 1
    while end < len(lines):
        if TABLE_LINE.match(lines[end]) and (end + 1 == len(lines) or not lines[end + 1].strip()):
            return end + 1
        end += 1
    return at + 1
