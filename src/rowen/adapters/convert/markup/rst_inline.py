"""Inside a line of reStructuredText: literals, roles, references and substitutions."""

from __future__ import annotations

import re

from rowen.adapters.convert.pieces import without_marks

_NAMED_TARGET = re.compile(r"^[ \t]*\.\.[ \t]+_(`[^`]+`|(?:[^:\\\n]|\\.)+):[ \t]+(\S[^\n]*)$", re.MULTILINE)
_SUBSTITUTION = re.compile(
    r"^[ \t]*\.\.[ \t]+\|([^|\n]+)\|[ \t]+(replace|unicode|image|date)::[ \t]*([^\n]*)", re.MULTILINE
)
_MARKUP = re.compile(
    r"``(?P<literal>.+?)``(?!`)"
    r"|:(?P<role>[A-Za-z][\w:.+-]*):`(?P<text>(?:[^`\\]|\\.)+)`"
    r"|`(?P<phrase>(?:[^`\\]|\\.)+)`(?P<marks>__?)?(?P<suffix>:[A-Za-z][\w:.+-]*:)?"
    r"|\|(?P<substitution>[^|\s][^|\n]*?)\|_{0,2}"
    r"|(?P<footnote>\[(?:\d+|#[\w-]*|\*|[\w.-]+)\])_(?!\w)"
    r"|\\(?P<escaped>[\sA-Za-z0-9]?)"
    r"|(?<![\w.:/-])(?P<word>[A-Za-z0-9][\w.-]*)__?(?![\w`])",
    re.DOTALL,
)
_TITLED = re.compile(r"(.*?)\s*<([^<>]+)>$", re.DOTALL)
_BROKEN = re.compile(r"[ \t]*\n[ \t]*")
_URL = re.compile(r"(?:https?|ftp|mailto):")
_NUMBERED = {"pep": "PEP", "rfc": "RFC", "issue": "issue", "gh": "gh"}
_WORDS = frozenset((
    "ref", "doc", "term", "any", "numref", "abbr", "strong", "emphasis", "guilabel", "menuselection",
    "dfn", "sub", "sup", "subscript", "superscript", "title", "title-reference", "t", "rst-class",
    "index", "eq", "download", "keyword", "token", "pep-reference",
))  # fmt: skip
_MAX_VALUE_CHARS = 500
"""Of a substitution; it may hold others, so it must be bounded."""


class Inline:
    """Knows the targets and substitutions of a whole document."""

    def __init__(self, text: str) -> None:
        self._targets = {
            _normal(name.strip("`").replace("\\", "")): url.strip()
            for name, url in _NAMED_TARGET.findall(text)
        }
        self._substitutions = {
            _normal(name): value.strip()[:_MAX_VALUE_CHARS] if how == "replace" else ""
            for name, how, value in _SUBSTITUTION.findall(text)
        }

    def to_markdown(self, text: str, *, depth: int = 0) -> str:
        if not any(mark in text for mark in "`|_\\"):
            return text
        return _MARKUP.sub(lambda found: self._replaced(found, depth), text)

    def to_text(self, text: str) -> str:
        """Without marks, for a title."""
        return without_marks(self.to_markdown(text)).replace("\\", "")

    def _replaced(self, found: re.Match[str], depth: int) -> str:
        match found.lastgroup:
            case "literal":
                return _code(found["literal"])
            case "text":
                return self._role(found["role"], found["text"])
            case "phrase" | "marks" | "suffix":
                return self._phrase(found["phrase"], found["marks"], found["suffix"])
            case "substitution":
                value = self._substitutions.get(_normal(found["substitution"]))
                if value is None:
                    return found[0]
                return self.to_markdown(value, depth=depth + 1) if depth < 1 else value
            case "footnote":
                return found["footnote"].replace("[", "\\[").replace("]", "\\]")
            case "escaped":
                # An escaped space joins what it stands between; a mark that is escaped is so in Markdown too.
                return found["escaped"].strip() if found["escaped"] else found[0]
            case _:
                word = found["word"]
                url = self._targets.get(_normal(word))
                return self._link(word, url) if url is not None else found[0]

    def _role(self, role: str, text: str) -> str:
        name = role.rpartition(":")[2]
        text = " ".join(text.split())
        titled = _TITLED.match(text)
        if titled is not None and titled[1]:
            if _URL.match(titled[2]):
                return self._link(titled[1], titled[2])
            return titled[1] if name in _WORDS else _code(titled[1])
        if name in _NUMBERED:
            return f"{_NUMBERED[name]} {text}"
        if name == "math":
            return f"${text}$"
        if name in _WORDS:
            return text.removeprefix("!").removeprefix("~")
        if text.startswith("~"):
            text = text[1:].rpartition(".")[2]
        return _code(text.removeprefix("!"))

    def _phrase(self, phrase: str, marks: str | None, suffix: str | None) -> str:
        text = " ".join(phrase.split())
        if suffix:
            return self._role(suffix.strip(":"), text)
        titled = _TITLED.match(text)
        if not marks:
            return _code(titled[1] if titled is not None and titled[1] else text)
        if titled is not None:
            target = titled[2].replace(" ", "")
            if target.endswith("_"):
                target = self._targets.get(_normal(titled[2].rstrip("_")), "")
            return self._link(titled[1] or target, target)
        return self._link(text, self._targets.get(_normal(text)))

    def _link(self, text: str, url: str | None) -> str:
        for _ in range(5):  # a target may name another one
            if url is None or not url.endswith("_"):
                break
            url = self._targets.get(_normal(url.strip("`_")))
        text = text.replace("[", "\\[").replace("]", "\\]")
        if not url:
            return text
        return f"[{text}](<{url}>)" if " " in url or ")" in url else f"[{text}]({url})"


def _code(text: str) -> str:
    text = _BROKEN.sub(" ", text)
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _normal(name: str) -> str:
    return " ".join(name.lower().split())
