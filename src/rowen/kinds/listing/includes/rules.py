"""Where a text includes other files, and what comes in their place. Pure: reading the files is for others.

reStructuredText has `.. include::` and `.. literalinclude::` (of Sphinx), AsciiDoc `include::path[...]`, and
Markdown what `in_markdown` lists. What an option chooses of a file (lines, or from one mark to another, or a
tag) is all that is put there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum

from rowen.kinds.listing.includes import in_markdown
from rowen.kinds.listing.includes.paths import below
from rowen.records import dataclass

RST, ASCIIDOC = frozenset({"rst", "rest"}), frozenset({"adoc", "asciidoc"})

_RST = re.compile(r"(?P<indent>[ ]*)\.\.[ ]+(?P<name>include|literalinclude)::[ ]+(?P<path>\S.*?)[ ]*$")
_OPTION = re.compile(r"[ ]+:(?P<name>[\w-]+):(?:[ ]+(?P<value>.*?))?[ ]*$")
_ASCIIDOC = re.compile(r"include::(?P<path>[^\s\[\]][^\[\]]*)\[(?P<options>[^\]]*)\][ \t]*$")
# Below such a line of reStructuredText, a directive is an example of one.
_LITERAL = re.compile(
    r"[ ]*\.\.[ ]+(?:code|code-block|sourcecode|parsed-literal|literalinclude|highlight|raw|prompt)::"
)
_DIRECTIVE = re.compile(r"[ ]*\.\.[ ]+[\w:.+-]+::")
_MODULES = "modules"
_FAMILY = re.compile(
    r"(?:(?P<module>[\w.-]+):)?(?P<family>partial|example|page|attachment)\$(?P<path>[^:${\\]+)"
)
_PAIR = re.compile(r"(\w+)=(?:\"([^\"]*)\"|([^,]*))")
_RANGE = re.compile(r"(-?\d+)?(?:(-|\.\.)(-?\d+)?)?")
_TAG = re.compile(r"\b(?P<which>tag|end)::(?P<tag>[^\s\[\]]+)\[\]")
_TICKS = re.compile(r"`{3,}")
_HEADING = re.compile(r"(={1,6})(?=[ \t]+\S)")
_LANGUAGES = {
    "py": "python", "js": "javascript", "ts": "typescript", "rb": "ruby", "rs": "rust", "sh": "shell",
    "yml": "yaml", "h": "c", "hpp": "cpp", "cc": "cpp", "txt": "text", "md": "markdown",
}  # fmt: skip


class Form(Enum):
    RST = "rst"
    ASCIIDOC = "asciidoc"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Directive:
    """A place of a text that another file belongs into: its lines from `start` to `end`."""

    start: int
    end: int
    path: str
    """As it is written."""
    literal: bool
    """The file is shown as it is: nothing in it is read as markup."""
    indent: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def form_of(path: str) -> Form | None:
    ending = path.rpartition(".")[2].lower()
    if ending in in_markdown.ENDINGS:
        return Form.MARKDOWN
    return Form.RST if ending in RST else Form.ASCIIDOC if ending in ASCIIDOC else None


def may_include(text: str, form: Form) -> bool:
    """Cheap: most files include nothing."""
    if form is Form.MARKDOWN:
        return any(sign in text for sign in in_markdown.SIGNS)
    return "include::" in text


def directives(lines: Sequence[str], form: Form) -> Iterator[Directive]:
    match form:
        case Form.RST:
            yield from _in_rst(lines)
        case Form.ASCIIDOC:
            yield from _in_asciidoc(lines)
        case Form.MARKDOWN:
            yield from _in_markdown(lines)


def candidates(written: str, includer: str, form: Form, roots: Sequence[str] = ()) -> list[str]:
    """The paths of the source that may be meant, the likeliest first."""
    if form is Form.MARKDOWN:
        return in_markdown.candidates(written, includer)
    target = resolve(written, includer, roots)
    return [] if target is None else [target]


def resolve(written: str, includer: str, roots: Sequence[str] = ()) -> str | None:
    """The path of the source that is meant; None for an address, an attribute or a path outside.

    A path that begins with a slash begins at the folder of the documentation: the nearest of `roots` around
    the includer, else the source itself. Antora names a file by its family: `partial$note.adoc` lies in
    `partials` of the module that the includer is in, `other:example$a.rb` in `examples` of another one.
    """
    if in_family := _FAMILY.fullmatch(written):
        return _in_module(includer.split("/")[:-1], **in_family.groupdict())
    if "://" in written or "{" in written or "\\" in written or "$" in written or "<" in written:
        return None
    if written.startswith("/"):
        around = [root for root in roots if not root or includer.startswith(f"{root}/")]
        parts = [part for part in max(around, key=len, default="").split("/") if part]
    else:
        parts = includer.split("/")[:-1]
    return below(parts, written)


def _in_module(folder: list[str], module: str | None, family: str, path: str) -> str | None:
    at = max((number for number, part in enumerate(folder[:-1]) if part == _MODULES), default=None)
    if at is None:
        return None
    inside = below([], path)
    return inside and "/".join([*folder[: at + 1], module or folder[at + 1], f"{family}s", inside])


def chosen(directive: Directive, text: str, form: Form) -> list[str]:
    """The lines of an included file that its options ask for."""
    lines = text.expandtabs(8).splitlines() if form is Form.RST else text.splitlines()
    options = directive.options
    if form is Form.ASCIIDOC:
        wanted = options.get("tag") or options.get("tags")
        lines = _tagged(lines, wanted) if wanted else lines
        lines = _numbered(lines, options["lines"], ";") if "lines" in options else lines
        lines = [line for line in lines if not _TAG.search(line)]
        return _offset(lines, options.get("leveloffset", ""))
    if "lines" in options:
        lines = _numbered(lines, options["lines"], ",")
    elif form is Form.MARKDOWN:
        lines = lines if directive.literal else in_markdown.without_front_matter(lines)
        lines = in_markdown.stretch(lines, options.get("name", ""))
    low, high = _number(options.get("start-line")), _number(options.get("end-line"))
    lines = lines[low:high]
    for name, keep in (("start-after", False), ("start-at", True)):
        if mark := options.get(name):
            at = next((number for number, line in enumerate(lines) if mark in line), None)
            lines = [] if at is None else lines[at if keep else at + 1 :]
    for name, keep in (("end-before", False), ("end-at", True)):
        if mark := options.get(name):
            at = next((number for number, line in enumerate(lines) if mark in line), None)
            lines = lines if at is None else lines[: at + keep]
    return lines


def placed(directive: Directive, lines: Sequence[str], form: Form) -> list[str]:
    """What stands in place of the directive."""
    if form is Form.ASCIIDOC:
        return list(lines)
    if form is Form.MARKDOWN:
        return _placed_in_markdown(directive, lines)
    if not directive.literal:
        return [f"{directive.indent}{line}" if line else "" for line in ["", *lines, ""]]
    ending = directive.path.rpartition(".")[2].lower()
    options = directive.options
    language = options.get("language") or options.get("code") or _LANGUAGES.get(ending, ending)
    head = f".. code-block:: {language}".rstrip()
    shown = [head, "", *(f"   {line}" if line else "" for line in lines or ["…"])]
    return [f"{directive.indent}{line}" if line else "" for line in ["", *shown, ""]]


def _placed_in_markdown(directive: Directive, lines: Sequence[str]) -> list[str]:
    shown = list(lines)
    language = directive.options.get("fence")
    if language is not None:
        ending = directive.path.rpartition(".")[2].lower()
        ticks = "`" * max(3, 1 + max((len(run) for line in shown for run in _TICKS.findall(line)), default=0))
        shown = [f"{ticks}{language or _LANGUAGES.get(ending, ending)}", *(shown or ["…"]), ticks]
    return [f"{directive.indent}{line}" if line else "" for line in shown]


def _in_markdown(lines: Sequence[str]) -> Iterator[Directive]:
    for one in in_markdown.found_in(lines):
        options = one.options
        if one.fenced:
            # A block of code has its fence.
            options = {name: value for name, value in options.items() if name != "fence"}
        literal = one.fenced or "fence" in options or form_of(one.path) is not Form.MARKDOWN
        yield Directive(one.start, one.end, one.path, literal, one.indent, options)


def _in_rst(lines: Sequence[str]) -> Iterator[Directive]:
    for number, line in enumerate(lines):
        found = _RST.match(line.expandtabs(8))
        if found is None or _is_example(lines, number, len(found["indent"])):
            continue
        options: dict[str, str] = {}
        end = number + 1
        while end < len(lines) and (option := _OPTION.match(lines[end])):
            options[option["name"]] = option["value"] or ""
            end += 1
        literal = found["name"] == "literalinclude" or "literal" in options or "code" in options
        yield Directive(number, end, found["path"], literal, found["indent"], options)


def _is_example(lines: Sequence[str], at: int, indent: int) -> bool:
    """Does it stand in a literal block, as in a text about includes?"""
    for number in range(at - 1, -1, -1):
        line = lines[number]
        before = len(line) - len(line.lstrip())
        if not line.strip() or before >= indent:
            continue
        if _LITERAL.match(line) or (line.rstrip().endswith("::") and not _DIRECTIVE.match(line)):
            return True
        indent = before
        if not indent:
            return False
    return False


def _in_asciidoc(lines: Sequence[str]) -> Iterator[Directive]:
    for number, line in enumerate(lines):
        if found := _ASCIIDOC.match(line):
            options = {name: one or other for name, one, other in _PAIR.findall(found["options"])}
            # Also in a listing the processor puts the file there, and its own includes with it.
            yield Directive(number, number + 1, found["path"], literal=False, options=options)


def _numbered(lines: Sequence[str], ranges: str, separator: str) -> list[str]:
    """`1,3-5,8-` of Sphinx, `1;3..5;8..-1` of AsciiDoc; numbers count from 1."""
    kept: list[str] = []
    for one in ranges.replace(" ", "").replace(",", separator).split(separator):
        found = _RANGE.fullmatch(one)
        if not one or found is None:
            continue
        low = int(found[1] or 1)
        high = int(found[3]) if found[3] else (len(lines) if found[2] else low)
        kept += lines[max(low, 1) - 1 : high if high >= 0 else len(lines)]
    return kept


def _tagged(lines: Sequence[str], wanted: str) -> list[str]:
    tags = {tag.strip() for tag in re.split("[,;]", wanted)}
    open_tags: list[str] = []
    kept: list[str] = []
    for line in lines:
        if found := _TAG.search(line):
            if found["which"] == "tag":
                open_tags.append(found["tag"])
            elif found["tag"] in open_tags:
                open_tags.remove(found["tag"])
        elif not tags.isdisjoint(open_tags) or ("*" in tags and open_tags) or "**" in tags:
            kept.append(line)
    return kept


def _offset(lines: list[str], offset: str) -> list[str]:
    by = _number(offset.lstrip("+")) or 0
    if not by:
        return lines

    def moved(marks: re.Match[str]) -> str:
        return "=" * min(6, max(1, len(marks[1]) + by))

    return [_HEADING.sub(moved, line, count=1) if line.startswith("=") else line for line in lines]


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None
