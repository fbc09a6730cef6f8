"""Languages of documents and sections, as searches filter by them and hits say them.

A section of a document in several languages has its language in its anchor (`lang=de`): a link leads to it,
and no store needs a column for it. Tags are BCP 47 in lower case, with the short code where there is one.
"""

from __future__ import annotations

import re
from typing import Any

MARK = "lang="
"""Begins the anchor of a section that is in one language of several."""
MAX_CHARS = 35

_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_SHORT = {
    "alb": "sq", "ara": "ar", "baq": "eu", "bos": "bs", "bul": "bg", "cat": "ca", "ces": "cs", "chi": "zh",
    "cze": "cs", "cym": "cy", "dan": "da", "deu": "de", "dut": "nl", "ell": "el", "eng": "en", "est": "et",
    "eus": "eu", "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de", "gle": "ga", "glg": "gl", "gre": "el",
    "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "ice": "is", "ind": "id", "isl": "is", "ita": "it",
    "jpn": "ja", "kat": "ka", "kor": "ko", "lav": "lv", "lit": "lt", "ltz": "lb", "mac": "mk", "mkd": "mk",
    "mlt": "mt", "nld": "nl", "nno": "nn", "nob": "nb", "nor": "no", "pol": "pl", "por": "pt", "roh": "rm",
    "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es", "sqi": "sq",
    "srp": "sr", "swe": "sv", "tur": "tr", "ukr": "uk", "wel": "cy", "zho": "zh",
}  # fmt: skip
"""Codes of three letters that have one of two."""


def tag_of(text: Any) -> str:
    """A language out of `de`, `pt_BR`, `DEU` or an address of a vocabulary; empty for what is none."""
    if not isinstance(text, str):
        return ""
    last = text.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].lower().replace("_", "-")
    if len(last) > MAX_CHARS or not _TAG.fullmatch(last):
        return ""
    first, dash, rest = last.partition("-")
    return _SHORT.get(first, first) + dash + rest


def heading_mark(language: str) -> str:
    """What stands behind a heading whose section is in this language."""
    return f"{{#{MARK}{language}}}"


def of_anchor(anchor: str | None) -> str | None:
    """The language of a section, if its anchor has one."""
    return anchor[len(MARK) :] or None if anchor and anchor.startswith(MARK) else None


def is_in(language: str, wanted: str) -> bool:
    """`de-ch` is in `de`, not the other way round."""
    return language == wanted or language.startswith(f"{wanted}-")


def said_of(languages: Any, language: Any, lang: Any) -> str | None:
    """The one language of a document, from its metadata; None where there are several or none is known."""
    if isinstance(languages, list):
        return str(languages[0]) if len(languages) == 1 else None
    return tag_of(language) or tag_of(lang) or None
