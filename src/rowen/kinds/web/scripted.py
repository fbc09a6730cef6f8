"""Does a page show nothing until its scripts have run? A guess from its HTML and from what was made of it."""

from __future__ import annotations

import re

FEW_WORDS = 40
_LOOKED_AT_BYTES = 200_000
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_MOUNT = re.compile(
    rb"<(?:div|main|section)\b[^>]*\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|svelte|gatsby-|app-root)"
    rb"|<app-root\b|\bdata-reactroot\b|\bng-version\b",
    re.IGNORECASE,
)
_NOSCRIPT = re.compile(
    rb"<noscript\b[^>]*>(?:(?!</noscript)[\s\S]){0,2000}?\b(?:java\s?script|enable)\b", re.IGNORECASE
)


def has_marks(body: bytes) -> bool:
    """Cheap: is there a place for scripts to fill, or a word to those who run none?"""
    start = body[:_LOOKED_AT_BYTES]
    return _SCRIPT.search(body) is not None and (
        _MOUNT.search(start) is not None or _NOSCRIPT.search(start) is not None
    )


def needs_scripts(body: bytes, text: str) -> bool:
    """`text` is the Markdown of the page's main content."""
    return len(text) < FEW_WORDS * 40 and len(text.split()) < FEW_WORDS and has_marks(body)
