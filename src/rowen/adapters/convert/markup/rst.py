"""reStructuredText to Markdown, at the level of lines and blocks; `rst_inline` does what is inside a line.

Not a parser of the standard: headings, literal blocks, directives, targets and field lists are understood,
lists and quotes stay as they are written, simple tables and grids with spans stay text.
What a directive would generate (a table of contents, the members of a module) is not there to be read and is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rowen.adapters.convert.definition import (
    MAX_LEVEL,
    Definition,
    Place,
    with_ends,
    without_marks_of_ours,
)
from rowen.adapters.convert.markup import rst_objects
from rowen.adapters.convert.markup.rst_inline import Inline
from rowen.adapters.convert.markup.rst_lines import (
    MIN_UNDERLINE,
    TABLE_LINE,
    UNDERLINE,
    end_of_body,
    end_of_table,
    heading_at,
)
from rowen.adapters.convert.markup.rst_tables import grid_rows
from rowen.adapters.convert.pieces import (
    dedent,
    fenced_lines,
    file_name,
    one_line,
    plain_line_breaks,
    table,
    titled,
    trimmed,
)
from rowen.adapters.convert.plain import links_of
from rowen.adapters.convert.tidy import tidy
from rowen.core.document import Converted

_EXPLICIT = re.compile(r"\.\.(?:[ \t]+(.*))?$")
_DIRECTIVE = re.compile(r"(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w.+:-]*?)::(?:[ \t]+(.*))?$")
_TARGET = re.compile(r"_(`[^`]+`|(?:[^:\\]|\\.)+):(?:[ \t]+(.*))?$")
_FOOTNOTE = re.compile(r"(\[[^\]]+\])[ \t]+(.*)$")
_OPTION = re.compile(r"[ \t]*:([\w-]+):(?:[ \t]+(.*))?$")
_FIELD = re.compile(r"([ \t]*):([^:\s`][^:`]*):(?:[ \t]+(.*))?$")
_LIST_NUMBER = re.compile(r"^([ \t]*)(?:#\.|\(?(\d+|[a-z])\)|\((\d+|[a-z])\))[ \t]+", re.MULTILINE)
_BULLET = re.compile(r"[ \t]*(?:[*+-]|\d+\.)[ \t]")


_CODE = frozenset((
    "code", "code-block", "sourcecode", "code-cell", "ipython", "literalinclude", "parsed-literal",
    "prompt", "console",
))  # fmt: skip
_LANGUAGE_OF = {
    "ipython": "python", "console": "console", "testcode": "python", "doctest": "python", "math": "latex",
    "graphviz": "dot",
}  # fmt: skip
_SAME_LANGUAGE = {
    "python3": "python", "ipython3": "python", "pycon": "python", "pycon3": "python", "c++": "cpp",
    "shell-session": "console", "none": "", "text": "", "default": "",
}  # fmt: skip
_DROPPED = frozenset((
    "toctree", "contents", "index", "include", "image", "raw", "meta", "highlights", "sectnum",
    "target-notes", "currentmodule", "py:currentmodule", "module", "py:module", "default-role",
    "default-domain", "role", "autosummary", "tabularcolumns", "sectionauthor", "moduleauthor", "title",
    "rst-class", "class-of", "testsetup", "testcleanup", "bibliography",
))  # fmt: skip
_ADMONITIONS = {
    "note": "Note", "warning": "Warning", "tip": "Tip", "hint": "Hint", "important": "Important",
    "caution": "Caution", "danger": "Danger", "error": "Error", "attention": "Attention",
    "seealso": "See also", "todo": "To do", "rubric": "",
}  # fmt: skip
_VERSIONS = {
    "versionadded": "Added in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "versionremoved": "Removed in version",
    "deprecated-removed": "Deprecated since version",
}  # fmt: skip
# Directives of a language's domain: their argument is a signature.
_OBJECTS = rst_objects.NAMES | {
    "program", "alias", "describe", "object", "2to3fixer", "bpo", "audit-event",
}  # fmt: skip


def convert_rst(text: str, url: str) -> Converted:
    reader = _Reader(without_marks_of_ours(plain_line_breaks(text)).expandtabs(8))
    markdown = with_ends(tidy(reader.read()))
    title = reader.title or file_name(url)
    if not reader.title:
        markdown = titled(title, markdown)
    return Converted(title, markdown, links_of(markdown, url), metadata=reader.metadata)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._inline = Inline(text)
        self._styles: list[tuple[str, bool]] = []
        self._language = ""
        self._module = ""
        self._place = Place(1)
        """Where a definition would stand."""
        self._defined: Definition | None = None
        """By a directive without a text of its own, whose text is below the heading that follows."""
        self._names_heading = False
        """A heading follows."""
        self._is_indented = False
        """A heading would be text of a list or of a quotation."""
        self._anchors: list[str] = []
        self.title = ""
        self.metadata: dict[str, str] = {}

    def read(self) -> str:
        return "\n".join(self._blocks(self._text.split("\n"), at_root=True))

    def _blocks(self, lines: list[str], *, at_root: bool = False) -> list[str]:
        out: list[str] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                out.append("")
                at += 1
                continue
            indent = len(line) - len(line.lstrip())
            before = len(out)
            step = at_root and self._heading(lines, at, out)
            step = step or self._special(lines, at, indent, out, at_root=at_root)
            at = step or self._paragraph(lines, at, indent, out)
            if any(out[before:]):
                self._anchors.clear()  # a target names what follows it, and something has
        return out

    def _heading(self, lines: list[str], at: int, out: list[str]) -> int:
        """The line after a heading that begins here, or 0."""
        found = heading_at(lines, at)
        if found is None:
            return 0
        title, style, end = found
        self._add_heading(title, style, out)
        return end

    def _add_heading(self, title: str, style: tuple[str, bool], out: list[str]) -> None:
        if style not in self._styles:
            self._styles.append(style)
        level = min(MAX_LEVEL, self._styles.index(style) + 1)
        self._place = Place(level)
        words = self._inline.to_markdown(one_line(title))
        if not self.title:
            self.title = self._inline.to_text(one_line(title))
        anchor = self._anchors[-1] if self._anchors else ""
        marks = f" {{#{anchor}}}" if anchor else ""
        if self._defined is not None:
            marks = self._defined._replace(anchor=anchor).marks()
            self._defined = None
        out += ["", f"{'#' * level} {words}{marks}", ""]

    def _special(self, lines: list[str], at: int, indent: int, out: list[str], *, at_root: bool) -> int:
        line = lines[at][indent:]
        if line == "::":
            return self._literal(lines, at + 1, indent, out)
        explicit = _EXPLICIT.match(line)
        if explicit is not None:
            end = end_of_body(lines, at + 1, indent)
            body = lines[at + 1 : end]
            was_indented, self._is_indented = self._is_indented, self._is_indented or indent > 0
            after = next((number for number in range(end, len(lines)) if lines[number].strip()), len(lines))
            self._names_heading = at_root and not any(body) and heading_at(lines, after) is not None
            out += _indented(self._explicit((explicit[1] or "").strip(), body), indent)
            self._is_indented = was_indented
            return end
        if line.startswith(">>> "):
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            out += _indented(_fenced(dedent(lines[at:end]), "python"), indent)
            return end
        if TABLE_LINE.match(line):
            end = end_of_table(lines, at)
            out += _indented(self._drawn_table(dedent(lines[at:end])), indent)
            return end
        if UNDERLINE.match(line) and len(line.rstrip()) >= MIN_UNDERLINE:
            out += ["", "---", ""]  # a transition
            return at + 1
        field = _FIELD.match(lines[at])
        if field is not None:
            return self._field(lines, at, indent, field, out)
        return 0

    def _field(self, lines: list[str], at: int, indent: int, field: re.Match[str], out: list[str]) -> int:
        end = end_of_body(lines, at + 1, indent)
        words = one_line(" ".join([field[3] or "", *lines[at + 1 : end]]))
        if field[2] in ("orphan", "nosearch", "tocdepth", "nocomments"):
            return end
        if not self.title and field[2].lower() in ("description", "lang"):
            self.metadata[field[2].lower()] = words
        out.append(f"{field[1]}- **{field[2]}**: {self._inline.to_markdown(words)}".rstrip(": "))
        return end

    def _paragraph(self, lines: list[str], at: int, indent: int, out: list[str]) -> int:
        """Lines up to a blank one, or to something else; what ends with `::` opens a literal block."""
        end = at + 1
        is_list = _BULLET.match(lines[at]) is not None
        while end < len(lines) and lines[end].strip():
            own = len(lines[end]) - len(lines[end].lstrip())
            if _EXPLICIT.match(lines[end].lstrip()):
                break
            # A role that is open goes on, on any line: `:ref:` in the text of a definition.
            is_open = lines[end - 1].count("`") % 2 == 1
            if own != indent and not is_list and end > at + 1 and not is_open:
                break
            if lines[end - 1].rstrip().endswith("::") and own > indent:
                break
            end += 1
        paragraph = lines[at:end]
        literal = paragraph[-1].rstrip().endswith("::")
        if literal:
            last = paragraph[-1].rstrip()
            paragraph[-1] = last[:-2].rstrip() if last.endswith(" ::") else last[:-1]
        if paragraph[0].lstrip().startswith("| "):
            paragraph = [f"{one[: len(one) - len(one.lstrip())]}{one.lstrip()[2:]}" for one in paragraph]
        text = self._inline.to_markdown("\n".join(paragraph).rstrip())
        text = _LIST_NUMBER.sub(lambda found: f"{found[1]}{found[2] or found[3] or '1'}. ", text)
        if text.strip():
            out += text.split("\n")
        return self._literal(lines, end, indent, out) if literal else end

    def _literal(self, lines: list[str], at: int, indent: int, out: list[str]) -> int:
        first = at
        while first < len(lines) and not lines[first].strip():
            first += 1
        if first >= len(lines):
            return at
        own = len(lines[first]) - len(lines[first].lstrip())
        if own > indent:
            end = end_of_body(lines, first, indent)
        else:
            # A block may be quoted line by line instead of indented.
            mark = lines[first][own]
            if not UNDERLINE.match(mark * 2):
                return at
            end = first
            while end < len(lines) and lines[end][own : own + 1] == mark:
                end += 1
        out += _indented(_fenced(dedent(trimmed(lines[first:end])), self._language), indent)
        return end

    def _explicit(self, first: str, body: list[str]) -> list[str]:
        target = _TARGET.match(first)
        if target is not None:
            if not (target[2] or "").strip() and not any(body):
                self._anchors.append(_anchor(target[1].strip("`")))
            return []
        footnote = _FOOTNOTE.match(first)
        if footnote is not None:
            words = self._inline.to_markdown(one_line(" ".join([footnote[2], *body])))
            return [f"\\{footnote[1][:-1]}\\] {words}", ""]
        directive = _DIRECTIVE.match(first)
        if directive is None or first.startswith("|"):
            return []  # a comment, or a substitution, which `Inline` has read
        return self._directive(directive[1], (directive[2] or "").strip(), body)

    def _directive(self, full_name: str, argument: str, body: list[str]) -> list[str]:
        name = full_name.rpartition(":")[2].lower()
        options: dict[str, str] = {}
        while body and (option := _OPTION.match(body[0])) and full_name not in ("parsed-literal",):
            options[option[1]] = (option[2] or "").strip()
            body = body[1:]
        more = next((number for number, line in enumerate(body) if not line.strip()), len(body))
        if name in _OBJECTS:
            return self._object(full_name, [argument, *body[:more]], dedent(trimmed(body[more:])))
        body = trimmed(body)
        inline = self._inline.to_markdown
        if name == "highlight":
            self._language = _language(argument)
            return []
        if name in ("module", "currentmodule"):
            self._module = "" if argument == "None" else argument
        if full_name in _DROPPED or name in _DROPPED or name.startswith("auto"):
            return []
        if name in _CODE:
            caption = [f"**{inline(options['caption'])}**", ""] if options.get("caption") else []
            language = argument or self._language or _LANGUAGE_OF.get(name, "")
            language = "" if name == "parsed-literal" else _language(language)
            return [*caption, *_fenced(dedent(body), language)] if any(body) else []
        if name in _LANGUAGE_OF:
            inner = dedent(body)
            return _fenced([argument, *inner] if name == "math" and argument else inner, _LANGUAGE_OF[name])
        if name in ("list-table", "csv-table", "table"):
            return self._table(
                name, argument, dedent(body), "header-rows" in options, options.get("header", "")
            )
        if name in _VERSIONS:
            version, _, rest = argument.partition(" ")
            words = " ".join(filter(None, [inline(rest), *self._blocks(dedent(body))]))
            return [f"{_VERSIONS[name]} {version}{f': {words}' if words else '.'}", ""]
        return self._container(name, argument, dedent(body))

    def _object(self, directive: str, signatures: list[str], body: list[str]) -> list[str]:
        """Signatures that share one description; one may go on over lines."""
        text = re.sub(r"\\\n\s*", "", "\n".join(signatures))
        terms = [
            one_line(line).replace("`", "")
            for line in text.split("\n")
            if line.strip() and not _OPTION.match(line)
        ]
        place = self._place
        found = None
        if terms and not self._is_indented:
            found = rst_objects.definition(directive, terms[0], place, self._module)
        if found is None:
            return [line for term in terms for line in (f"`{term}`", "")] + self._blocks(body)
        if self._names_heading and len(terms) == 1:
            self._defined = found
            return []
        shown = [found.signature, *terms[1:]] if found.signature else terms[1:]
        self._place = place.inside(found)
        inner = self._blocks(body)
        self._place = place
        return [
            "",
            f"{'#' * min(place.level + 1, MAX_LEVEL)} `{found.title}`{found.marks()}",
            "",
            *(line for term in shown for line in (f"`{term}`", "")),
            *inner,
            "",
            found.end_mark(),
            "",
        ]

    def _container(self, name: str, argument: str, body: list[str]) -> list[str]:
        """A directive around text that goes on being text."""
        inline = self._inline.to_markdown
        if name == "figure":
            return self._blocks(body)
        label = _ADMONITIONS.get(name)
        if name in ("admonition", "topic", "sidebar", "rubric", "tab-item", "tab", "dropdown", "card",
                    "grid-item-card", "collapse", "details", "centered"):  # fmt: skip
            label, argument = inline(argument), ""
        if label is None:
            label, argument = "", "" if name in ("only", "container", "ifconfig") else argument
        inner = self._blocks([argument, *([""] if not argument else []), *body])
        return [*([f"**{label}**", ""] if label else []), *inner, ""]

    def _drawn_table(self, lines: list[str]) -> list[str]:
        rows = grid_rows(lines) if lines[0].startswith("+") else None
        if rows is None:
            return _fenced(lines, "")
        return ["", *table([[self._inline.to_markdown(cell) for cell in row] for row in rows]).split("\n")]

    def _table(self, name: str, caption: str, body: list[str], has_head: bool, header: str) -> list[str]:
        inline: Callable[[str], str] = self._inline.to_markdown
        title = [f"**{inline(caption)}**", ""] if caption else []
        if name == "table":
            return [*title, *self._blocks(body)]
        if name == "csv-table":
            import csv

            rows = list(csv.reader([*([header] if header else []), *body], skipinitialspace=True))
        else:
            rows = _listed_rows(body)
        if not has_head and not header and rows:
            rows.insert(0, [""] * len(rows[0]))
        return [*title, *table([[inline(cell) for cell in row] for row in rows]).split("\n")]


def _listed_rows(body: list[str]) -> list[list[str]]:
    rows: list[list[str]] = []
    for line in body:
        stripped = line.strip()
        if line.startswith("* "):
            rows.append([])
            stripped = stripped[1:].strip()
        if not rows:
            continue
        if stripped == "-" or stripped.startswith("- "):
            rows[-1].append(stripped[1:].strip())
        elif stripped and rows[-1]:
            rows[-1][-1] = f"{rows[-1][-1]} {stripped}"
    return rows


def _fenced(lines: list[str], language: str) -> list[str]:
    return fenced_lines(trimmed(lines), language)


def _indented(lines: list[str], indent: int) -> list[str]:
    return [f"{' ' * indent}{line}" if line else "" for line in lines]


def _language(name: str) -> str:
    name = name.strip().lower().split(" ")[0]
    return _SAME_LANGUAGE.get(name, name)


def _anchor(name: str) -> str:
    """The id that is made of a target's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("\\", "")).strip("-") or "target"
