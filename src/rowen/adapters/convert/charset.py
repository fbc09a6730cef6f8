"""Bytes to text, the way browsers decide: byte order mark, header, `<meta>`, then what the bytes look like.

A header that says UTF-8 is believed as far as the bytes bear it out: text of another charset below it keeps
its words. One that says Latin-1 may be what a server says of all its pages: bytes that are UTF-8 are read as
such, unless the page says Latin-1 itself. It never fails: bytes that do not fit become U+FFFD.
"""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
# `<meta charset="x">` and `<meta http-equiv="content-type" content="text/html; charset=x">` alike.
_META_CHARSET = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]+)", re.IGNORECASE)
_META_WINDOW_BYTES = 4096
"""Browsers look at 1,024; a page with a long comment in front is still readable with more."""
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)

# What a label means on the web (WHATWG) where Python's codec of that name means something narrower.
# fmt: off
_WEB_MEANING = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_WEB_LABELS = {
    "x-sjis": "cp932", "windows-31j": "cp932", "ms_kanji": "cp932", "x-gbk": "gb18030", "x-euc-jp": "euc_jp",
    "windows-949": "cp949", "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "x-x-big5": "big5hkscs",
    "big5-hkscs": "big5hkscs", "x-mac-roman": "mac_roman", "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic", "x-cp1250": "cp1250", "x-cp1251": "cp1251", "x-cp1252": "cp1252",
    "dos-874": "cp874", "windows-874": "cp874", "unicode-1-1-utf-8": "utf-8", "x-unicode20utf8": "utf-8",
    "utf-16": "utf-16-le", "unicode": "utf-16-le", "iso-8859-8-i": "iso8859-8", "logical": "iso8859-8",
    "visual": "iso8859-8",
}
# fmt: on
# Codecs of Python that decode bytes to text and are no charset of the web.
_NOT_OF_THE_WEB = frozenset(
    ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7")
)
_LATIN = "cp1252"
_GUESS_BYTES = 64_000
_WEB_CODE_PAGES = ("cp866", "cp874")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def decode(body: bytes, content_type: str = "", *, is_html: bool = True) -> str:
    """The text of a body whose `Content-Type` header is `content_type`."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace")
    declared = _from_header(content_type)
    if declared in (None, _LATIN):
        written = _from_meta(body) if is_html else None
        declared = "utf-8" if declared == _LATIN != written and _is_utf8(body) else declared or written
    if declared is not None and declared != "utf-8":
        return _decode_as(body, declared)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        # Pages that declare UTF-8 and hold one broken byte are common; they are still UTF-8.
        if declared and _is_mostly_utf8(body):
            return body.decode("utf-8", _MIXED)
        return _decode_as(body, _guess(body))


def _is_utf8(body: bytes) -> bool:
    """Text in Latin-1 with a letter beyond ASCII is hardly ever by chance what UTF-8 may be."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_utf8(body: bytes) -> bool:
    """Are there at least as many sequences of UTF-8 as bytes that fit none?"""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return len(_BEYOND_ASCII.sub("", text)) + 2 * broken <= len(text)


def _as_cp1252(exc: UnicodeError) -> tuple[str, int]:
    """A lone byte inside a word is a letter that was written in another charset; the rest is damage."""
    assert isinstance(exc, UnicodeDecodeError)
    body, at, end = exc.object, exc.start, exc.end
    in_word = body[max(at - 1, 0) : at].isalpha() or body[end : end + 1].isalpha()
    lone = end - at == 1 and in_word
    return body[at:end].decode("cp1252", "replace") if lone else "\ufffd", end


_MIXED = "rowen-cp1252"
codecs.register_error(_MIXED, _as_cp1252)


def codec_for(label: str) -> str | None:
    """The Python codec for a charset label of the web, or None when there is no such charset."""
    label = label.strip().strip("\"'").lower()
    if label in _WEB_LABELS:
        return _WEB_LABELS[label]
    try:
        name = codecs.lookup(label).name
        b" ".decode(name, "replace")  # base64 and its like are codecs, but not of text
    except (LookupError, ValueError):
        return None
    return None if name in _NOT_OF_THE_WEB else _WEB_MEANING.get(name, name)


def _decode_as(body: bytes, codec: str) -> str:
    text = body.decode(codec, "replace")
    if codec != "cp1252" or "\ufffd" not in text:
        return text
    # The five bytes cp1252 leaves undefined are control characters on the web, not damage.
    return body.decode("latin-1").translate(_CP1252)


_CP1252 = {code: bytes((code,)).decode("cp1252", "ignore") or chr(code) for code in range(0x80, 0xA0)}


def _from_header(content_type: str) -> str | None:
    found = _HEADER_CHARSET.search(content_type)
    return codec_for(found[1]) if found else None


def _from_meta(body: bytes) -> str | None:
    found = _META_CHARSET.search(_COMMENT.sub(b"", body[:_META_WINDOW_BYTES]))
    codec = codec_for(found[1].decode("ascii")) if found else None
    # A page whose <meta> could be read as ASCII is not UTF-16, even when the <meta> says so.
    return "utf-8" if codec is not None and codec.startswith("utf-16") else codec


def _guess(body: bytes) -> str:
    import cchardet

    found = cchardet.detect(body[:_GUESS_BYTES])
    codec = codec_for(found["encoding"]) if found["encoding"] and (found["confidence"] or 0) > 0.5 else None
    # The code pages of DOS are a detector's mistake: no page of the web is written in one, but for cp866.
    is_of_dos = codec is not None and codec.startswith(("cp8", "cp4", "cp7")) and codec not in _WEB_CODE_PAGES
    return "cp1252" if codec in (None, "utf-8") or is_of_dos else codec or "cp1252"
