"""PDF by pypdfium2, which the extra `rowen[docs]` brings: the text page by page.

Headings come from the outline, set where their words stand on the page; without one each page is a section.
What looks like a heading is not guessed at. Each anchor is the page's, which viewers understand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from rowen.adapters.convert.pieces import file_name, heading, one_line, prose
from rowen.core.document import Converted
from rowen.errors import Unparseable

_MAX_PAGES = 2_000
_MAX_CHARS = 20_000_000
_MAX_BOOKMARKS = 5_000
_HINT = "pip install 'rowen[docs]'"
# How pdfium marks a hyphen that the layout put there, and how others write it.
_HYPHEN = re.compile(r"(?<=\w)(?:[\x02\ufffe\u00ad]|-)\n(?=[^\W\d_A-Z])")
_LEADERS = re.compile(r"(?:[ \t]*\.){5,}[ \t]*")  # between a title and its page number
_NUMBER = re.compile(r"\d+")
_NOT_A_TITLE = re.compile(
    r"^(?:untitled|microsoft word - .*|.*\.(?:docx?|tex|dvi|indd|pdf|qxd))$", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_MIN_PAGES_TO_REPEAT = 5


def convert_pdf(body: bytes, url: str) -> Converted:
    try:
        pdfium = import_module("pypdfium2")
    except ImportError as exc:
        raise Unparseable(
            f"`{url}`: reading PDF needs an extra that is not installed", hint=_HINT, url=url
        ) from exc
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as exc:
        why = "it is protected by a password" if "password" in str(exc).lower() else "it is damaged"
        raise Unparseable(f"`{url}`: the PDF cannot be opened: {why}", url=url) from exc
    try:
        return _convert(document, pdfium, url)
    except pdfium.PdfiumError as exc:
        raise Unparseable(f"`{url}`: the PDF cannot be read: {exc}", url=url) from exc
    finally:
        document.close()


def _convert(document: Any, pdfium: Any, url: str) -> Converted:
    total = len(document)
    pages = list(_pages(document, pdfium, min(total, _MAX_PAGES)))
    if not any(pages):
        raise Unparseable(
            f"`{url}`: no text on {total} pages of PDF",
            hint="it may be a scan: run it through text recognition first",
            url=url,
        )
    metadata: dict[str, Any] = {"pages": total}
    facts = document.get_metadata_dict(skip_empty=True)
    if subject := one_line(facts.get("Subject", "")):
        metadata["description"] = subject
    title = one_line(_CONTROL.sub("", facts.get("Title", "")))
    if not title or _NOT_A_TITLE.match(title):
        title = file_name(url)
    bookmarks = _outline(document, pdfium)
    pieces = [heading(1, title)]
    for number, lines in enumerate(_without_repeated(pages)):
        pieces += _page(number, lines, bookmarks)
    left_out = total - len(pages)
    if left_out:
        pieces.append(f"\n{left_out} of {total} pages are left out.\n")
    return Converted(title, "".join(pieces), metadata=metadata)


def _pages(document: Any, pdfium: Any, count: int) -> Iterator[list[str]]:
    size = 0
    for number in range(count):
        try:
            page = document[number]
            text_page = page.get_textpage()
            text = text_page.get_text_bounded()
            text_page.close()
            page.close()
        except pdfium.PdfiumError:
            text = ""  # one damaged page of many
        size += len(text)
        if size > _MAX_CHARS:
            return
        text = _HYPHEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        text = _LEADERS.sub(" ", _CONTROL.sub("", text)).strip()
        yield [line.rstrip() for line in text.split("\n")] if text else []


def _without_repeated(pages: list[list[str]]) -> list[list[str]]:
    """Without the running head and foot: lines that begin or end most pages, but for their numbers."""
    written = [page for page in pages if page]
    if len(written) < _MIN_PAGES_TO_REPEAT:
        return pages
    counts = [Counter(_NUMBER.sub("0", page[at].strip()) for page in written) for at in (0, -1)]
    repeated = [{line for line, n in count.items() if n > 0.6 * len(written)} for count in counts]
    result: list[list[str]] = []
    for page in pages:
        if page and _NUMBER.sub("0", page[0].strip()) in repeated[0]:
            page = page[1:]
        if page and _NUMBER.sub("0", page[-1].strip()) in repeated[1]:
            page = page[:-1]
        result.append(page)
    return result


def _outline(document: Any, pdfium: Any) -> dict[int, list[tuple[int, str]]] | None:
    """Page to its (level, title)s; None when the document has no outline."""
    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for number, bookmark in enumerate(document.get_toc(max_depth=6)):
            if number >= _MAX_BOOKMARKS:
                break
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            title = one_line(_CONTROL.sub("", bookmark.get_title() or ""))
            if page is not None and title:
                found.setdefault(page, []).append((bookmark.level + 2, title))
    except (pdfium.PdfiumError, ValueError):
        return None
    return found or None


def _page(number: int, lines: list[str], bookmarks: dict[int, list[tuple[int, str]]] | None) -> Iterator[str]:
    anchor = f"page={number + 1}"
    if bookmarks is None:
        if lines:
            yield "\n" + heading(2, f"Page {number + 1}", anchor) + "\n" + prose("\n".join(lines)) + "\n"
        return
    low = 0
    for level, title, start, end in _placed(lines, bookmarks.get(number, [])):
        if start > low:
            yield "\n" + prose("\n".join(lines[low:start])) + "\n"
        yield "\n" + heading(level, title, anchor)
        low = end
    if low < len(lines):
        yield "\n" + prose("\n".join(lines[low:])) + "\n"


def _placed(lines: list[str], marks: list[tuple[int, str]]) -> list[tuple[int, str, int, int]]:
    """(level, title, first line, line after) of each bookmark of a page.

    A title that is not on the page stands at its top when it is the first, else where the next one stands:
    it must not take the text of the one before it.
    """
    placed: list[tuple[int, str, int, int]] = []
    low = 0
    for level, title in marks:
        found = _find(lines, title, low)
        placed.append((level, title, *(found or (-1, -1))))
        low = found[1] if found else low
    following = len(lines)
    for number in reversed(range(len(placed))):
        level, title, start, end = placed[number]
        if start < 0:
            start = end = following if number else 0
            placed[number] = (level, title, start, end)
        following = start
    return placed


def _find(lines: list[str], title: str, low: int) -> tuple[int, int] | None:
    """(first line, line after) of a title on its page."""
    wanted = _letters(title)
    for start in range(low, len(lines)):
        have = ""
        for end in range(start, min(start + 3, len(lines))):
            have += _letters(lines[end])
            # "2.1 Shelves" on the page, "Shelves" in the outline.
            if have and (have == wanted or have.lstrip("0123456789") == wanted.lstrip("0123456789") != ""):
                return start, end + 1
            if len(have) > len(wanted) + 8:
                break
    return None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
