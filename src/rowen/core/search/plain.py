"""Markdown as one line of plain text: what a snippet shows, and what phrases are looked for in."""

from __future__ import annotations

import re

from rowen.patterns import pattern

_CODE = "\ue000"
"""A sign that no text has: Unicode gives it no meaning."""

_MAX_TEXT = 20_000
"""Passages are far shorter; foreign ones may not be, and a snippet must not cost more than the search."""

_RULE = frozenset(" \t:|-")
"""All there is in the line under a table's head, and in a ruler."""

_MAYBE_MARKED = frozenset("#>-*+0123456789")
"""With one of these begins a heading, a quotation or an item of a list."""

# Each of these reads any line about once: stretches between two marks are bounded.
_fence = pattern(r"\s*(```+|~~~+)[^`]*$")
_line_mark = pattern(r"\s*(?:(?:#{1,6}|[-*+]|\d{1,3}[.)])\s+|>(?:\s+|$))+(?:\[[ xX]\]\s+)?")
_code_span = pattern(r"(`+)(?!`)(.{0,400}?[^`])\1(?!`)")
_link = pattern(r"!?\[([^\[\]]*)\]\((?:<[^<>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_autolink = pattern(r"<((?:https?|mailto):[^<>\s]+)>")
# A tag with attributes, the end of one, or one of HTML's own; `Vec<String>` and `HashMap<K, V>` are text.
_tag = pattern(
    r"</[A-Za-z][\w-]{0,40}>"
    r"|<[A-Za-z][\w-]{0,40}(?:\s+[\w:@#.-]{1,40}=(?:\"[^\"<>]{0,400}\"|'[^'<>]{0,400}')){1,20}\s*/?>"
    r"|<(?:br|code|dd|details|div|dl|dt|em|hr|img|kbd|li|mark|ol|p|pre|small|span|strong|sub|summary|sup|ul)\s*/?>"
)
# What generators put in and readers do not see: comments, and the shortcodes of Hugo but for words in them.
_comment = pattern(r"<!--[^<>]{0,400}-->")
_shortcode = pattern(r"\{\{(?:<[^{}]{0,400}>|%[^{}]{0,400}%)\}\}")
_words_of_shortcode = pattern(r"\btext=\"([^\"]*)\"")
_term_of_shortcode = pattern(r"\bterm_id=\"([^\"]*)\"")
_argument_of_shortcode = pattern(r"\"([^\"]*)\"")
_spaces = pattern(r" {2,}")
_component = pattern(r"<[A-Z][\w.]{0,60}(?:\s[^<>]{0,400})?/>")
# By reference: `[words][name]` and, on a line of its own, `[name]: address "title"`.
_reference = pattern(r"(?<![\w\])\\])!?\[([^\[\]]+)\]\[[^\[\]]*\]")
_target = pattern(
    r" {0,3}\[(?!\^)[^\[\]]+\]:\s*(?:<[^<>]*>|\S+)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*$"
)
_alert = pattern(r"\s*\[!([A-Za-z]{1,20})\][+-]?(?=\s|$)")
# On a line of its own in MyST and kramdown: attributes of what follows or precedes, and the name of a place.
_attributes = pattern(r"\s*(?:\{:?\s*[.#][^{}]*\}|\([\w.:-]+\)=)\s*$")
# The role of a piece of code in MyST: {class}`Path`.
_role = pattern(rf"\{{[a-z][\w:+-]{{0,40}}\}}(?={_CODE})")
_entity = pattern(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_underlined = pattern(r"(?<![\w\\_])_(?=[^\s_])([^_]{1,200}?)(?<=[^\s\\])_(?![\w_])")
_strong = pattern(r"(?<!\\)\*\*(?=\S)((?:[^*\\]|\\.){1,200}?)(?<=\S)\*\*")
_emphasis = pattern(r"(?<![\w*\\])\*(?=[^\s*])((?:[^*\\]|\\.){1,200}?)(?<=\S)\*(?![\w*])")
_pipe = pattern(r"(?<!\\)\|")
_escape = pattern(r"\\([\\`*_{}\[\]()#+.!|<>~-])")


def plain(markdown: str) -> str:
    """A Markdown passage as one line of plain text."""
    lines = []
    fence = ""
    for line in markdown[:_MAX_TEXT].splitlines():
        mark = _fence.match(line) if "```" in line or "~~~" in line else None
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif fence:
            lines.append(line)
        elif "--" not in line or not _RULE.issuperset(line):
            lines.append(_plain_line(line))
    return _with_single_spaces(" ".join(filter(None, lines)))


def _with_single_spaces(line: str) -> str:
    # To look for what is not there takes a tenth of the time of taking a line apart.
    if line.isascii() and "  " not in line and "\t" not in line and "\x1f" not in line:
        return line.strip(" ")
    return " ".join(line.split())


def _plain_line(line: str) -> str:
    stripped = line.strip()
    if stripped[:1] in _MAYBE_MARKED and (mark := _line_mark.match(line)):
        line = line[mark.end() :]
        stripped = line.strip()
    if stripped[:1] in ("{", "(") and _attributes.match(line):
        return ""
    if stripped[:1] == "[":
        if _target.match(line):
            return ""
        line = _alert.sub(r"\1", line, count=1)
        stripped = line.strip()
    if stripped.startswith("|"):
        line = " · ".join(cell.strip() for cell in _pipe.split(stripped.strip("|")))
    if "`" not in line:
        return _without_marks(line)
    if stripped[:1] == "`" == stripped[-1:] and stripped.count("`") == 2:
        # A signature may be longer than any piece of code in a sentence.
        return stripped[1:-1]
    # What stands in code stays as it is, and marks around code are marks: a sign stands for it meanwhile.
    code: list[str] = []

    def kept(span: re.Match[str]) -> str:
        code.append(span[2])
        return _CODE

    line = _without_marks(_code_span.sub(kept, line.replace(_CODE, " ")))
    first, *others = line.split(_CODE)
    return first + "".join(f"{one}{after}" for one, after in zip(code, others, strict=False))


def _without_marks(text: str) -> str:
    # Most lines have no mark at all, and to look for one letter is much cheaper than to look for a pattern.
    if "](" in text:
        text = _link.sub(r"\1", text)
    if "][" in text:
        text = _reference.sub(r"\1", text)
    if "<" in text or "{%" in text:
        text = _shortcode.sub(_shown, _comment.sub(" ", text)) if "{{" in text or "<!" in text else text
        text = _tag.sub(" ", _autolink.sub(r"\1", text))
    if _CODE in text and "}" in text:
        text = _role.sub("", text)
    if "*" in text:
        text = _emphasis.sub(r"\1", _strong.sub(r"\1", text))
    if "_" in text:
        text = _underlined.sub(r"\1", text)
    if "&" in text:
        text = with_characters(text)
    return _escape.sub(r"\1", text) if "\\" in text else text


def heading_words(prose: str) -> str:
    """Words of a heading without components and shortcodes; one that is a shortcode alone is its argument."""
    alone = _shortcode.fullmatch(prose.strip())
    if alone is not None:
        argument = _argument_of_shortcode.search(prose)
        return argument[1] if argument is not None else prose
    words = _shortcode.sub(_shown, _component.sub(" ", prose))
    # `## <Content />` is about the component.
    return _spaces.sub(" ", words) if words.strip() else prose


def _shown(shortcode: re.Match[str]) -> str:
    """The term that it is about, in the middle of a sentence: `{{< tooltip text="pods" term_id="pod" >}}`."""
    words = _words_of_shortcode.search(shortcode[0]) or _term_of_shortcode.search(shortcode[0])
    return words[1] if words is not None else " "


def with_characters(text: str) -> str:
    """Entities as the characters that they stand for: `&lt;` is how Markdown is kept from seeing a tag."""
    return _entity.sub(_character, text)


def _character(entity: re.Match[str]) -> str:
    from html import unescape  # a large table, for a few texts

    return unescape(entity[0])
