"""Inside a line of AsciiDoc: links, cross references, attributes, monospace and emphasis."""

from __future__ import annotations

import re

from rowen.adapters.convert.pieces import without_marks

_MARKUP = re.compile(
    r"(?P<code>(?<![\w`])`\+(?P<plus>.+?)\+`|(?<![\w`])`(?P<mono>[^`\n]+?)`(?!\w)|``(?P<mono2>[^`\n]+?)``)"
    r"|link:(?P<link>\+\+.+?\+\+|[^\s\[]+)\[(?P<link_text>(?:[^\]\\]|\\.)*)\]"
    r"|(?P<url>(?:https?|ftp)://[^\s\[\]<>]+)\[(?P<url_text>(?:[^\]\\]|\\.)*)\]"
    r"|xref:(?P<xref>[^\s\[]+)\[(?P<xref_text>(?:[^\]\\]|\\.)*)\]"
    r"|<<(?P<ref>[^<>,\n]+)(?:,(?P<ref_text>[^<>\n]*))?>>"
    r"|(?:image|icon):[^\s\[:]+\[(?P<alt>[^\]\n]*)\]"
    r"|(?:kbd|btn|menu):(?:[^\s\[]*)\[(?P<key>[^\]\n]*)\]"
    r"|footnote(?:ref)?:[^\s\[]*\[(?P<note>[^\]\n]*)\]"
    r"|(?:pass|stem|latexmath):\w*\[(?P<raw>[^\]\n]*)\]"
    r"|\[\[[^\]\n]+\]\]|\[#[^\]\n]+\](?=[#`*_])|\[\.[^\]\n]+\](?=[#`*_])"
    r"|\{(?P<attribute>[A-Za-z0-9_][\w-]*)\}"
    r"|(?<![\w*\\])\*(?P<strong>\S(?:[^*\n]*?\S)?)\*(?![\w*])"
    r"|(?<![\w_\\`/])_(?P<em>[^\s_](?:[^_\n]*?[^\s_])?)_(?![\w_])"
)
_KNOWN = {
    "nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "empty": "", "blank": "", "sp": " ", "apos": "'",
    "quot": '"', "startsb": "[", "endsb": "]", "vbar": "|", "caret": "^", "asterisk": "*", "tilde": "~",
    "backslash": "\\", "backtick": "`", "two-colons": "::", "two-semicolons": ";;", "cpp": "C++", "plus": "+",
    "deg": "°", "zwsp": "", "wj": "", "ldquo": "“", "rdquo": "”", "lsquo": "‘", "rsquo": "’",
}  # fmt: skip
_MAX_DEPTH = 5
_MAX_CHARS = 20_000
_MAX_VALUE_CHARS = 1_000


class Inline:
    """Knows the attributes of the document read so far."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}

    def define(self, name: str, value: str) -> None:
        # Resolved once, here, and bounded: attributes made of attributes must not grow without end.
        self.attributes[name.lower()] = self._with_attributes(value)[:_MAX_VALUE_CHARS]

    def to_markdown(self, text: str, *, depth: int = 0) -> str:
        if len(text) > _MAX_CHARS:
            return text
        if not depth:
            text = self._with_attributes(text)
        return _MARKUP.sub(lambda found: self._replaced(found, depth), text)

    def to_text(self, text: str) -> str:
        """Without marks, for a title."""
        return without_marks(self.to_markdown(text))

    def _replaced(self, found: re.Match[str], depth: int) -> str:
        groups = found.groupdict()
        if groups["code"] is not None:
            code = groups["plus"] or groups["mono"] or groups["mono2"] or ""
            return f"`{self._with_attributes(code) if groups['plus'] is None else code}`"
        for target, words in (("link", "link_text"), ("url", "url_text"), ("xref", "xref_text")):
            if groups[target] is not None:
                return self._link(groups[target], groups[words], is_reference=target == "xref")
        if groups["ref"] is not None:
            return (groups["ref_text"] or groups["ref"].rpartition("#")[2] or groups["ref"]).strip()
        if groups["attribute"] is not None:
            name = groups["attribute"].lower()
            return self.attributes.get(name, _KNOWN.get(name, found[0]))
        for mark, words in (("**", groups["strong"]), ("*", groups["em"])):
            if words is not None:
                inner = self.to_markdown(words, depth=depth + 1) if depth < _MAX_DEPTH else words
                return f"{mark}{inner}{mark}"
        if groups["note"] is not None:
            return f" ({groups['note']})"
        return groups["key"] or groups["raw"] or groups["alt"] or ""

    def _link(self, target: str, words: str, *, is_reference: bool) -> str:
        target = self._with_attributes(target.strip("+"))
        text = words.split(",")[0] if "=" in words else words
        text = text.strip().removesuffix("^").strip('"').replace("\\]", "]")
        if is_reference and not re.search(r"\.\w+(?:#|$)", target):
            return text or target.lstrip("#")
        text = (text or target).replace("[", "\\[").replace("]", "\\]")
        return f"[{self._with_attributes(text)}]({target})"

    def _with_attributes(self, text: str) -> str:
        return re.sub(
            r"`\+[^\n]+?\+`|\{([A-Za-z0-9_][\w-]*)\}",
            lambda found: self.attributes.get(found[1].lower(), found[0]) if found[1] else found[0],
            text,
        )
