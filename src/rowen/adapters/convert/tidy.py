"""One spelling for the Markdown we make: what looks the same must hash the same.

Touches white space and invisible characters outside fenced code; code stays as it was written.
"""

from __future__ import annotations

import re
import unicodedata

# As our renderer writes them: opening and closing fence are equal, also behind the marks of lists and quotes.
_FENCED = re.compile(r"^([ >]*)(?:[-*+] |\d+\. )?(`{3,})[^`\n]*\n(?:.*\n)*?[ >]*\2[ ]*$", re.MULTILINE)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_NO_BREAK_SPACE = re.compile(r"(?<!\\)&#160;")
_EMPTY_LINK = re.compile(r"(?<![!\\\]])\[ *\]\([^()\s]*\)")
# Code inside a list item is indented, and so are its empty lines.
_BLANK_IN_CODE = re.compile(r"\n[ \t]+(?=\n)")
_BLANK_RUN = re.compile(r"\n{3,}")


_UNTIDY = (" \n", "\t\n", "\n\n\n", "\u00a0", "&#160;", "[](", "[ ](", "\u00ad", "\u200b", "\u2060", "\ufeff")


def tidy(markdown: str) -> str:
    """Composed Unicode, no trailing spaces, at most one blank line in a row, one line break at the end."""
    if not markdown.isascii():
        markdown = unicodedata.normalize("NFC", markdown)
    text = f"{markdown}\n"
    # Most pages need nothing; asking is a hundred times cheaper than doing.
    if any(mark in text for mark in _UNTIDY):
        pieces: list[str] = []
        low = 0
        for fence in _FENCED.finditer(text):
            pieces += (_tidy_prose(text[low : fence.start()]), _BLANK_IN_CODE.sub("\n", fence[0]))
            low = fence.end()
        text = "".join((*pieces, _tidy_prose(text[low:])))
    text = text.strip("\n")
    return f"{text}\n" if text else ""


def _tidy_prose(prose: str) -> str:
    if not prose.isascii():
        prose = _INVISIBLE.sub("", prose).replace("\u00a0", " ")
    if "&#160;" in prose:
        prose = _NO_BREAK_SPACE.sub(" ", prose)
    if "[](" in prose or "[ ](" in prose:
        prose = _EMPTY_LINK.sub("", prose)
    if " \n" in prose or "\t\n" in prose:
        prose = "\n".join([line.rstrip() for line in prose.split("\n")])
    return _BLANK_RUN.sub("\n\n", prose) if "\n\n\n" in prose else prose
