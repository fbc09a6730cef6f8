"""AsciiDoc to Markdown, at the level of lines and blocks; `asciidoc_inline` does what is inside a line.

Headings, listings, admonitions, lists, tables of plain cells and attributes of the document are understood.
Includes were put in place before, conditions are not decided: the text of every branch stays.
"""

from __future__ import annotations

import re

from rowen.adapters.convert.markup.asciidoc_inline import Inline
from rowen.adapters.convert.pieces import fenced_lines, file_name, one_line, plain_line_breaks, table, titled
from rowen.adapters.convert.plain import links_of
from rowen.adapters.convert.tidy import tidy
from rowen.core.document import Converted

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_ATTRIBUTE = re.compile(r":(!?[A-Za-z0-9_][\w-]*!?):(?:[ \t]+(.*?))?[ \t]*$")
_ANCHOR = re.compile(r"\[\[([^\],]+)(?:,[^\]]*)?\]\]$")
_BLOCK_STYLE = re.compile(r"\[([^\[\]]*)\]$")
_ID = re.compile(r"#([^\s,.%\]]+)")
_INLINE_ANCHOR = re.compile(r"\[\[([^\],]+)(?:,[^\]]*)?\]\]")
_TITLE = re.compile(r"\.(?![. \t])(\S.*)$")
_DELIMITER = re.compile(
    r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}|[|,:!]={3,})([\w+#-]*)[ \t]*$"
)
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(.*)$")
_MACRO_LINE = re.compile(r"(?:ifdef|ifndef|ifeval|endif|include|toc|image|video|audio)::")
_CONDITION_TEXT = re.compile(r"(?:ifdef|ifndef)::[^\[]*\[(.+)\][ \t]*$")
_BULLETS = re.compile(r"[ \t]*(\*{1,5}|-)[ \t]+(.*)$")
_NUMBERS = re.compile(r"[ \t]*(\.{1,5}|\d+\.)[ \t]+(.*)$")
_CALLOUT = re.compile(r"<(\d+|\.)>[ \t]+(.*)$")
_TERM = re.compile(r"[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$")
_CELL = re.compile(r"(?:\d+\*|\d*(?:\.\d+)?\+)?[<^>.]*[adehlmsv]?\|")
_ADMONITIONS = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_METADATA: tuple[str, ...] = ("description", "lang")
_NO_CODE = frozenset(("quote", "verse", "stem", "abstract"))


def convert_asciidoc(text: str, url: str) -> Converted:
    reader = _Reader()
    markdown = tidy("\n".join(reader.read(plain_line_breaks(text).split("\n"))))
    title = reader.title or file_name(url)
    if not reader.title:
        markdown = titled(title, markdown)
    metadata = {key: reader.inline.attributes[key] for key in _METADATA if key in reader.inline.attributes}
    return Converted(title, markdown, links_of(markdown, url), metadata=metadata)


class _Reader:
    def __init__(self) -> None:
        self.inline = Inline()
        self.title = ""
        self._style: list[str] = []
        self._anchor = ""
        self._after_title = False

    def read(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        at = 0
        while at < len(lines):
            at = self._line(lines, at, out)
        return out

    def _line(self, lines: list[str], at: int, out: list[str]) -> int:
        line = lines[at].rstrip()
        if not line:
            self._after_title = False
            out.append("")
            return at + 1
        if self._marks(line):
            return at + 1
        heading = _HEADING.match(line)
        if heading is not None:
            self._heading(len(heading[1]), heading[2], out)
            return at + 1
        delimiter = _DELIMITER.match(line)
        if delimiter is not None:
            return self._delimited(lines, at, delimiter, out)
        if line.startswith("//"):
            return at + 1
        if self._after_title:
            return at + 1  # author and revision stand right under the title
        if _MACRO_LINE.match(line):
            condition = _CONDITION_TEXT.match(line)
            if condition is not None:
                out.append(self.inline.to_markdown(condition[1]))
            return at + 1
        return self._text(lines, at, line, out)

    def _marks(self, line: str) -> bool:
        """Lines that say something about what follows them, and are no text."""
        attribute = _ATTRIBUTE.match(line)
        if attribute is not None:
            self.inline.define(attribute[1].strip("!"), attribute[2] or "")
            return True
        anchor = _ANCHOR.match(line)
        if anchor is not None:
            self._anchor = anchor[1]
            return True
        style = _BLOCK_STYLE.match(line)
        if style is not None and not line.startswith("[["):
            self._style = [word.strip() for word in style[1].split(",")]
            found = _ID.search(self._style[0]) if self._style else None
            if found is not None:
                self._anchor = found[1]
            return True
        return False

    def _heading(self, level: int, title: str, out: list[str]) -> None:
        inline_anchor = _INLINE_ANCHOR.search(title)
        if inline_anchor is not None:
            self._anchor = inline_anchor[1]
            title = _INLINE_ANCHOR.sub("", title).strip()
        if not self.title:
            self.title = self.inline.to_text(title)
            self._after_title = level == 1
        anchor = f" {{#{self._anchor}}}" if self._anchor else ""
        out += ["", f"{'#' * level} {self.inline.to_markdown(title)}{anchor}", ""]
        self._forget()

    def _forget(self) -> None:
        self._style, self._anchor = [], ""

    def _text(self, lines: list[str], at: int, line: str, out: list[str]) -> int:
        inline = self.inline.to_markdown
        title = _TITLE.match(line)
        if title is not None:
            out += ["", f"**{inline(title[1])}**", ""]
            return at + 1  # the style that was given is that of the block below
        style = self._style[0] if self._style else ""
        if style in ("source", "listing", "literal") or style.startswith(("source%", "listing%")):
            return self._paragraph_of_code(lines, at, out)
        is_item = _BULLETS.match(line) or _NUMBERS.match(line)
        if line[0] in " \t" and not is_item and not (out and out[-1]):
            return self._paragraph_of_code(lines, at, out)
        self._forget()
        if style in _ADMONITIONS:
            out += [f"**{style.capitalize()}**", ""]
        elif (admonition := _ADMONITION.match(line)) is not None:
            out += [f"**{admonition[1].capitalize()}**", "", inline(admonition[2])]
        elif (bullet := _BULLETS.match(line)) is not None:
            depth = 0 if bullet[1] == "-" else len(bullet[1]) - 1
            out.append(f"{'  ' * depth}- {inline(bullet[2])}")
        elif (number := _NUMBERS.match(line)) is not None:
            depth = len(number[1]) - 1 if number[1][0] == "." else 0
            out.append(f"{'   ' * depth}1. {inline(number[2])}")
        elif (callout := _CALLOUT.match(line)) is not None:
            out.append(f"- ({callout[1]}) {inline(callout[2])}")
        elif line == "+":
            out.append("")
        elif line in ("'''", "<<<"):
            out += ["", "---", ""]
        elif (term := _TERM.match(line)) is not None:
            words = f": {inline(term[3])}" if term[3] else ""
            out.append(f"- **{inline(term[1])}**{words}")
        else:
            out.append(inline(line.removesuffix(" +")))
        if style in _ADMONITIONS:
            out.append(inline(line))
        return at + 1

    def _paragraph_of_code(self, lines: list[str], at: int, out: list[str]) -> int:
        end = at
        while end < len(lines) and lines[end].strip():
            end += 1
        out += fenced_lines([line.removeprefix(" ") for line in lines[at:end]], self._language())
        self._forget()
        return end

    def _language(self) -> str:
        style = self._style
        if not style or style[0].split("%")[0].split("#")[0] not in ("source", ""):
            return ""
        if len(style) > 1 and "=" not in style[1]:
            return style[1].strip('"')
        return self.inline.attributes.get("source-language", "") if style[0].startswith("source") else ""

    def _delimited(self, lines: list[str], at: int, delimiter: re.Match[str], out: list[str]) -> int:
        mark = delimiter[1]
        end = at + 1
        while end < len(lines) and lines[end].rstrip() != mark:
            end += 1
        inner = lines[at + 1 : end]
        style = self._style[0].split("%")[0].split("#")[0] if self._style else ""
        after = min(end + 1, len(lines))
        language = delimiter[2] if mark[0] == "`" else self._language()
        if mark[0] == "/" or mark[0] == "+" or style == "comment":
            self._forget()
        elif mark[-1] == "=" and mark[0] in "|,:!":
            separator = mark[0] if mark[0] in ",:" else "|"
            self._forget()
            out += ["", *self._table(inner, separator), ""]
        elif _holds_code(mark, style):
            out += fenced_lines(inner, language)
            self._forget()
        else:
            self._forget()
            if style in _ADMONITIONS:
                out += ["", f"**{style.capitalize()}**", ""]
            out += ["", *self.read(inner), ""]
        return after

    def _table(self, lines: list[str], separator: str) -> list[str]:
        if separator in ",:":
            rows = [
                [self.inline.to_markdown(cell) for cell in line.split(separator)]
                for line in lines
                if line.strip()
            ]
            return table(rows).rstrip("\n").split("\n")
        cells: list[str] = []
        width = 0
        for line in lines:
            parts = _CELL.split(line)
            if len(parts) == 1:
                if line.strip() and cells:
                    cells[-1] = f"{cells[-1]} {line.strip()}"
                continue
            if not width:
                # The first line of cells is a whole row; below it one cell a line is common.
                width = len(parts) - 1
            cells += [part.strip() for part in parts[1:]]
        if not width:
            return []
        words = [self.inline.to_markdown(one_line(cell)) for cell in cells]
        rows = [words[low : low + width] for low in range(0, len(words), width)]
        return table(rows).rstrip("\n").split("\n")


def _holds_code(mark: str, style: str) -> bool:
    if mark == "--":
        return style in ("source", "listing")
    return mark[0] in "-.`" and style not in _NO_CODE and style not in _ADMONITIONS
