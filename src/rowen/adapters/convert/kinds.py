"""Which bodies can be converted, said from the type and the address alone. Imports nothing heavy."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    PLAIN = "plain"


_TYPES = {
    "text/html": Kind.HTML,
    "application/xhtml+xml": Kind.HTML,
    "text/markdown": Kind.MARKDOWN,
    "text/x-markdown": Kind.MARKDOWN,
    "text/plain": Kind.PLAIN,
}
_ENDINGS = {
    "html": Kind.HTML, "htm": Kind.HTML, "xhtml": Kind.HTML,
    "md": Kind.MARKDOWN, "markdown": Kind.MARKDOWN, "mdown": Kind.MARKDOWN, "mdx": Kind.MARKDOWN,
    "txt": Kind.PLAIN,
}  # fmt: skip
_SAYS_NOTHING = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/x-unknown"))


def kind_of(content_type: str, url: str) -> Kind | None:
    """What a body is, or None when it is nothing we read."""
    media_type = content_type.partition(";")[0].strip().lower()
    name = url.partition("#")[0].partition("?")[0].rpartition("/")[2].lower()
    ending = name.rpartition(".")[2] if "." in name else ""
    kind = _TYPES.get(media_type)
    if kind is Kind.PLAIN and (_ENDINGS.get(ending) is Kind.MARKDOWN or name.startswith("llms")):
        # Servers that do not know Markdown call it plain text, and llms.txt is Markdown by its own rules.
        return Kind.MARKDOWN
    if kind is None and media_type in _SAYS_NOTHING:
        return _ENDINGS.get(ending, Kind.HTML if not media_type and not ending else None)
    return kind
