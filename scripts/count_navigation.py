"""What becomes of a folder of HTML pages: sections, definitions, and lines that are navigation.

    python scripts/count_navigation.py FOLDER [--examples N]

Converts every page below FOLDER as a crawl would. A line is navigation when nothing stands on it but words by
which sites lead from page to page (Prev, Next, Up, Home, Edit this page), a permalink mark, a label of a copy
button, or a trail of links (`A » B » C`). Code and headings are not looked at: one may be called "Next".
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from rowen.adapters.convert.worker import convert
from rowen.core.split import split

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_MARKS = re.compile(r"[\[\]|*]+|^[ \t]*[-+] |^#+ |\{[#.][^{}]*\}$", re.MULTILINE)
_LEADS_ELSEWHERE = re.compile(
    r"(?:(?:index|modules|contents|top)\s*)*"
    r"(?:(?:prev|previous|next|up|home)(?: page| topic| chapter| class)?\s*)+|"
    r"edit (?:this page|on \w+)|(?:view|show|page) source|report a bug|"
    r"copy(?: code| to clipboard| item path)|"
    r"skip to (?:main )?content|was this (?:page )?helpful\??|table of contents|on this page",
    re.IGNORECASE,
)
_PERMALINK = re.compile("[¶§🔗#]+")
_TRAIL = re.compile(r"[^\n]{1,60}(?:\s[»›]\s[^\n]{1,60})+\s*[»›]?|[^\n]{1,60}\s[»›]")


def kind_of_line(line: str) -> str | None:
    """What navigation a line of Markdown is, if it is any."""
    if line.lstrip().startswith(("#", "`")):
        return "permalink" if line.rstrip().endswith("¶") else None
    words = " ".join(_MARKS.sub(" ", _TARGET.sub("]", line)).split())
    if not words:
        return None
    if _LEADS_ELSEWHERE.fullmatch(words) or line == "Copy":
        return "leads elsewhere"
    if _PERMALINK.fullmatch(words) or words.endswith("¶"):
        return "permalink"
    return "breadcrumb" if _TRAIL.fullmatch(words) and "](" in line else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--examples", type=int, default=10)
    wanted = parser.parse_args()
    pages = sections = without_anchor = repeated = 0
    symbols: Counter[str] = Counter()
    navigation: Counter[str] = Counter()
    examples: list[str] = []
    for path in sorted(wanted.folder.rglob("*.html")):
        name = path.relative_to(wanted.folder).as_posix()
        text = convert(path.read_bytes(), content_type="text/html", url=f"https://docs.example/{name}").text
        pages += 1
        for section in split(text):
            sections += 1
            without_anchor += not section.anchor and section.level > 0
            steps = section.heading_path
            repeated += any(one == two for one, two in pairwise(steps))
            if section.symbol is not None:
                symbols[section.symbol.kind] += 1
        for line in _FENCED.sub("", text).splitlines():
            kind = kind_of_line(line)
            if kind is not None:
                navigation[kind] += 1
                examples.append(f"  {name}: {line[:120]}")
    print(f"pages {pages}\nsections {sections}\nsections without an anchor {without_anchor}")
    print(f"sections with a repeated title in their path {repeated}")
    print(
        f"symbols {symbols.total()}: " + ", ".join(f"{kind} {count}" for kind, count in symbols.most_common())
    )
    print(
        f"lines of navigation {navigation.total()}: " + ", ".join(f"{k} {n}" for k, n in navigation.items())
    )
    print("\n".join(examples[: wanted.examples]))


if __name__ == "__main__":
    main()
