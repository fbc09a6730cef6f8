"""What the first bytes of a body say it is, when they say more than its header does."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

from rowen.adapters.convert.formats import Kind

# What begins so is neither text nor anything we read.
_BINARY = (
    b"\x89PNG", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"\x7fELF",
    b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"BZh", b"\xfd7zXZ",
    b"\xd0\xcf\x11\xe0",  # the Office files of before 2007
)  # fmt: skip
_ARCHIVE = b"PK\x03\x04"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OFFICE = {"word/document.xml": Kind.DOCX, "ppt/presentation.xml": Kind.PPTX, "xl/workbook.xml": Kind.XLSX}
BINARY_KINDS = frozenset((Kind.PDF, Kind.DOCX, Kind.PPTX, Kind.XLSX))
_PDF_WINDOW_BYTES = 1024
"""Readers of PDF look this far for its mark, and writers make use of it."""
_RST_WINDOW_BYTES = 20_000
_UNDERLINED = re.compile(rb"^[^\s=~^\-].*\r?\n([=~^\-*#\"'`+])\1{2,}[ \t]*\r?$", re.MULTILINE)
_RST_MARK = re.compile(
    rb"^\.\. (?:[a-zA-Z][\w:+.-]*::(?:[ \t\r]|$)|_[^\n:]+:(?:[ \t\r]|$))"  # a directive, a target
    rb"|(?:^|[\s(]):[a-z][\w:+.-]*:`[^`\n]",  # a role
    re.MULTILINE,
)
# A page without any of these still begins with its title between two lines,
_BETWEEN_LINES = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*^(?P<line>([=*#])\2{3,})[ \t]*\r?\n(?P<title>.*\S.*)\n(?P=line)[ \t]*\r?$",
    re.MULTILINE,
)
# and has one of: a literal, a line in italics, a heading that is underlined in full.
_LITERAL_OR_ITALICS = re.compile(
    rb"(?:^|[\s(\"'])``[^`\s](?:[^`\n]*[^`\s])?``(?!`)|^\*[^*\s][^*\n]*\*[ \t]*\r?$", re.MULTILINE
)
_HEADING = re.compile(rb"^([^\s=~^*+-].*)\n(([=~^*#\"'`+-])\3{2,})[ \t]*\r?$", re.MULTILINE)


def sniff(body: bytes, kind: Kind, content_type: str) -> Kind | None:
    """What a body called `kind` really is; None when it is nothing we read, or not what it is called."""
    if body.startswith(b"%PDF-") or (kind is Kind.PDF and b"%PDF-" in body[:_PDF_WINDOW_BYTES]):
        return Kind.PDF
    if body.startswith(_ARCHIVE):
        return _office(body)
    if kind in BINARY_KINDS or body.startswith(_BINARY):
        return None
    if _has_zeros(body, content_type):
        # Browsers leave zeros out of a page; anything else with zeros is no text.
        is_page = kind is Kind.HTML and body.lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"<")
        return Kind.HTML if is_page else None
    if kind is Kind.HTML and not content_type and not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        # Nothing said that it is HTML: a README of a repository comes without ending or type.
        kind = Kind.PLAIN
    return Kind.RST if kind is Kind.PLAIN and _is_rst(body[:_RST_WINDOW_BYTES]) else kind


def _is_rst(beginning: bytes) -> bool:
    """Has it what only reStructuredText has? Projects that build with Sphinx may call their pages `.txt`."""
    if _RST_MARK.search(beginning):
        return _UNDERLINED.search(beginning) is not None
    title = _BETWEEN_LINES.match(beginning)
    if title is None or len(title["line"]) < len(title["title"].strip()):
        return False
    headings = _HEADING.finditer(beginning, title.end())
    return _LITERAL_OR_ITALICS.search(beginning, title.end()) is not None or any(
        len(found[2]) >= len(found[1].rstrip()) for found in headings
    )


def _office(body: bytes) -> Kind | None:
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            names = archive.NameToInfo
            return next((kind for name, kind in _OFFICE.items() if name in names), None)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return None


def _has_zeros(body: bytes, content_type: str) -> bool:
    return b"\0" in body[:1024] and not is_utf16(body, content_type)


def is_utf16(body: bytes, content_type: str) -> bool:
    return body.startswith(_UTF16) or "utf-16" in content_type.lower()
