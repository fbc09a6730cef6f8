"""Source code as Markdown: the head of the file, then each definition under a heading that names it.

Every line of the file comes out once, in order, inside a fence. Python is cut by its own parser; other
languages, and Python that does not parse, by a scan of lines: it knows what a definition looks like at the
outermost indentation, not the language. A definition too long for one passage is cut again at its members.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from rowen.adapters.convert.code.names import Names, names_of, owner_of
from rowen.adapters.convert.code.patterns import CONTAINERS, in_comments, is_lead, named_by
from rowen.adapters.convert.formats import language_of
from rowen.adapters.convert.pieces import definition, fence, heading, plain_line_breaks, source_name, trimmed
from rowen.core.document import Converted
from rowen.core.section import Symbol
from rowen.records import dataclass

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LONG_CHARS = 2_000
"""A longer definition is cut at its members: it would be cut anyway, and worse."""
_MAX_DEPTH = 3
_MAX_NAMES = 5
_MAX_TITLE_CHARS = 120
_MAX_BEGINNING_CHARS = 60


@dataclass(frozen=True, slots=True)
class _Cut:
    line: int
    """Where the slice begins, counted from 0; it ends where the next one begins."""
    level: int
    title: str
    symbol: Symbol | None = None

    @property
    def heading(self) -> str:
        title = self.title[:_MAX_TITLE_CHARS]
        return definition(self.level, title, self.symbol) if self.symbol else heading(self.level, title)


def convert_code(text: str, url: str, content_type: str = "") -> Converted:
    text = plain_line_breaks(text)
    language = language_of(content_type, url)
    name = source_name(url)
    lines = text.split("\n")[:-1]
    cuts = _python_cuts(text, lines, names_of(lines, language, name)) if language == "python" else None
    if cuts is None:
        # Prose in comments is full of what looks like code.
        code = [
            "" if hidden else line for line, hidden in zip(lines, in_comments(lines, language), strict=True)
        ]
        cuts = list(_scanned_cuts(lines, code, names_of(code, language, name), 0, len(lines), 2, ""))
    pieces = [heading(1, name)]
    first = cuts[0].line if cuts else len(lines)
    pieces += _block(lines[:first], language)
    for number, cut in enumerate(cuts):
        end = cuts[number + 1].line if number + 1 < len(cuts) else len(lines)
        pieces += ["\n", cut.heading]
        pieces += _block(lines[cut.line : end], language)
    return Converted(name, "".join(pieces), metadata={"language": language} if language else {})


def _block(lines: list[str], language: str) -> list[str]:
    written = trimmed(lines)
    return ["\n", fence("\n".join(written), language)] if written else []


def _python_cuts(text: str, lines: list[str], names: Names) -> list[_Cut] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return list(_cuts_of_body(tree.body, lines, names, 2, "", len(lines)))


def _cuts_of_body(
    body: list[ast.stmt], lines: list[str], names: Names, level: int, owner: str, end: int
) -> Iterator[_Cut]:
    """Of the statements between definitions only those after the first one need a heading of their own."""
    for number, statement in enumerate(body):
        previous = body[number - 1] if number else None
        if not isinstance(statement, _DEFINITIONS):
            if isinstance(previous, _DEFINITIONS):
                first = _lead(lines, statement.lineno - 1, previous)
                assigned = _assigned_from(body, number)
                title = ", ".join(f"{owner}{name}" for name in assigned) or _beginning(statement, lines)
                only = names.symbol("var", assigned[0], owner[:-1]) if len(assigned) == 1 else None
                yield _Cut(first, level, title, only)
            continue
        start = min([statement.lineno, *[one.lineno for one in statement.decorator_list]]) - 1
        start = _lead(lines, start, previous)
        name = f"{owner}{statement.name}"
        is_class = isinstance(statement, ast.ClassDef)
        keyword = "class" if is_class else "def"
        symbol = names.symbol(keyword, statement.name, owner[:-1])
        yield _Cut(start, level, f"{keyword} {name}", symbol)
        stop = statement.end_lineno or end
        if is_class and level < 2 + _MAX_DEPTH and _chars(lines[start:stop]) > _LONG_CHARS:
            yield from _cuts_of_body(statement.body, lines, names, level + 1, f"{name}.", stop)


def _lead(lines: list[str], start: int, previous: ast.stmt | None) -> int:
    """Comments right above belong to what follows, but never to a line that has code of another statement."""
    floor = previous.end_lineno if previous is not None and previous.end_lineno else 0
    while start > floor and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    # Two statements on one line cannot be cut apart.
    return max(start, floor)


def _assigned_from(body: list[ast.stmt], number: int) -> list[str]:
    """What statements up to the next definition assign, each once."""
    names: list[str] = []
    for statement in body[number:]:
        if isinstance(statement, _DEFINITIONS):
            break
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
            if isinstance(statement, (ast.AnnAssign, ast.AugAssign))
            else []
        )
        names += [target.id for target in targets if isinstance(target, ast.Name)]
    return list(dict.fromkeys(names[:_MAX_NAMES]))


def _beginning(statement: ast.stmt, lines: list[str]) -> str:
    return lines[statement.lineno - 1].strip().rstrip(":")[:_MAX_BEGINNING_CHARS]


def _chars(lines: list[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def _scanned_cuts(
    lines: list[str], code: list[str], names: Names, start: int, end: int, level: int, owner: str
) -> Iterator[_Cut]:
    """Definitions at the least indentation at which there are any between `start` and `end`."""
    language = names.language
    found: list[tuple[int, int, str, str]] = []  # (indentation, line, keyword, name)
    for number in range(start, end):
        line = code[number]
        indent = len(line) - len(line.lstrip())
        if (not found or indent <= found[0][0]) and (named := named_by(line, language, inner=level > 2)):
            if found and indent < found[0][0]:
                found.clear()
            found.append((indent, number, *named))
    firsts: list[int] = []
    floor = start
    for _, number, _, _ in found:
        first = number
        while (
            first > floor
            and lines[first - 1].strip()
            and (not code[first - 1] or is_lead(lines[first - 1], language))
        ):
            first -= 1
        firsts.append(first)
        floor = number + 1
    stops = [*firsts[1:], end]
    for group in _grouped(found, firsts, stops, lines):
        _, number, keyword, _ = found[group[0]]
        called = list(dict.fromkeys(found[index][3] for index in group))
        title = ", ".join(f"{owner}{name}" for name in called)
        symbol = names.symbol(keyword, called[0], owner_of(owner[:-1])) if len(called) == 1 else None
        yield _Cut(firsts[group[0]], level, f"{keyword} {title}".strip(), symbol)
        stop = stops[group[-1]]
        is_long = level < 2 + _MAX_DEPTH and _chars(lines[number:stop]) > _LONG_CHARS
        if is_long and keyword.split(" ")[-1] in CONTAINERS:
            yield from _scanned_cuts(lines, code, names, number + 1, stop, level + 1, f"{title}.")


def _grouped(
    found: list[tuple[int, int, str, str]], firsts: list[int], stops: list[int], lines: list[str]
) -> list[list[int]]:
    """A run of one-line definitions is one group, and so are the clauses of one function."""
    groups: list[list[int]] = []
    for index, (_, _, keyword, name) in enumerate(found):
        if groups:
            last = found[groups[-1][-1]]
            short = all(_is_short(lines[firsts[i] : stops[i]]) for i in (groups[-1][-1], index))
            is_clause = last[2:] == (keyword, name) and keyword not in CONTAINERS
            if is_clause or (short and last[2] == keyword and len(groups[-1]) < _MAX_NAMES):
                groups[-1].append(index)
                continue
        groups.append([index])
    return groups


def _is_short(lines: list[str]) -> bool:
    return sum(1 for line in lines if line.strip()) == 1
