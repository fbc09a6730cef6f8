"""What a definition in source code is called in full, and what kind of thing it is.

The name begins with the module: of Python the name of the file, elsewhere the package that the file says it
belongs to. Below the outermost level it has the names of what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from rowen.core.section import Symbol, in_source
from rowen.records import dataclass

_MAX_LINES = 200
"""Beyond these no file says what package it belongs to."""
_NAME = re.compile(r"[^\s{}\\\"'(),;\[\]]{1,200}")
_MODULE = re.compile(r"[^\W\d]\w*")
_TYPE_PARAMETERS = re.compile(r"<[^<>]*>")
_PACKAGES = {
    "go": re.compile(r"package\s+(\w+)"),
    **dict.fromkeys(("java", "kotlin", "scala", "groovy"), re.compile(r"package\s+([\w.]+)")),
    "csharp": re.compile(r"namespace\s+([\w.]+)\s*;"),
    "php": re.compile(r"namespace\s+([\w\\]+)\s*;"),
    "protobuf": re.compile(r"package\s+([\w.]+)\s*;"),
    "haskell": re.compile(r"module\s+([\w.]+)"),
    "elm": re.compile(r"(?:port\s+)?module\s+([\w.]+)"),
}
_FUNCTIONS = (
    "", "def", "defp", "cdef", "cpdef", "func", "fn", "fun", "function", "filter", "sub", "subroutine",
    "procedure", "proc", "method", "iterator", "converter", "template", "defn", "defn-", "defun", "define",
    "rpc", "init", "deinit", "subscript", "member", "task", "setmethod", "setgeneric",
)  # fmt: skip
_KINDS = {
    **dict.fromkeys(_FUNCTIONS, "function"),
    **dict.fromkeys(("macro", "macro_rules", "defmacro", "defmacrop"), "macro"),
    **dict.fromkeys(("class", "setclass", "implementation"), "class"),
    **dict.fromkeys(("let", "var", "val", "static", "variable", "output"), "variable"),
    **dict.fromkeys(("type", "alias", "typealias", "using", "data", "newtype", "scalar", "input"), "type"),
    **dict.fromkeys(("module", "mod", "defmodule", "ns", "unit", "program"), "module"),
    **dict.fromkeys(("protocol", "defprotocol"), "protocol"),
    **dict.fromkeys(("package", "body"), "package"),
    **dict.fromkeys(("impl", "extension"), "extension"),
    **{
        kind: kind
        for kind in (
            "constant", "struct", "interface", "enum", "trait", "union", "record", "object", "actor",
            "mixin", "namespace", "message", "service", "contract", "library", "event", "modifier",
            "exception", "structure", "property", "query", "mutation", "subscription", "fragment",
            "directive", "constructor", "destructor", "callback",
        )
    },
    "const": "constant",
}  # fmt: skip
_NAMES_NOTHING_NEW = frozenset((
    "instance", "defimpl", "extend", "alter", "from", "given", "import", "resource", "provider",
))  # fmt: skip
"""Keywords of what has no name of its own."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the definitions of one file are called."""

    language: str
    module: str
    """Empty where the file does not say it."""

    def symbol(self, keyword: str, name: str, owner: str) -> Symbol | None:
        """None for what defines no name. `owner` is what stands around it."""
        if self.language == "sql":
            kind, plain = _created(keyword, name)
        else:
            kind = _kind(keyword, self.language)
            plain = owner_of(name) if kind == "extension" else _first_word(name, self.language)
        if not kind or not _NAME.fullmatch(plain):
            return None
        is_member = bool(owner) or (self.language == "go" and "." in plain)
        full = plain if plain == self.module else ".".join(filter(None, (self.module, owner, plain)))
        return Symbol(full, in_source("method" if kind == "function" and is_member else kind))


def names_of(lines: Iterable[str], language: str, file: str) -> Names:
    """`file` is its name, with its folder where it says nothing by itself."""
    if language in ("python", "cython"):
        folder, _, own = file.rpartition("/")
        stem = own.partition(".")[0]
        stem = folder if stem == "__init__" else stem
        return Names(language, stem if _MODULE.fullmatch(stem) else "")
    package = _PACKAGES.get(language)
    found = (package.match(line) for line in islice(lines, _MAX_LINES)) if package else ()
    said = next(filter(None, found), None)
    return Names(language, said[1].replace("\\", ".").strip(".") if said else "")


def plain_name(name: str) -> str:
    """Without the parameters of its type and the marks around it: `List.second` of `List<T>.second`."""
    before = ""
    while name != before:
        before, name = name, _TYPE_PARAMETERS.sub("", name)
    return name.replace(".prototype.", ".").replace("`", "").replace('"', "").strip()


def owner_of(name: str) -> str:
    """What the members of a definition belong to: `Shelf`, of `impl Display for Shelf<T>`."""
    words = plain_name(name).split()
    return words[-1] if words and _NAME.fullmatch(words[-1]) else ""


def _first_word(name: str, language: str) -> str:
    """Empty for several; of Haskell the others are parameters of a type."""
    words = plain_name(name).split()
    return words[0] if len(words) == 1 or (words and language == "haskell") else ""


def _created(keyword: str, name: str) -> tuple[str, str]:
    """`table`, `shelf` of `TABLE IF NOT EXISTS shelf`."""
    words = plain_name(name).split()
    if keyword.lower() == "create" and len(words) > 1:
        return words[0].lower(), words[-1]
    return _kind(keyword, "sql"), _first_word(name, "sql")


def _kind(keyword: str, language: str) -> str:
    """Empty for what defines no name."""
    words = keyword.lower().strip("@!").split()
    if not words:
        return "target" if language == "makefile" else "function"
    if not _NAMES_NOTHING_NEW.isdisjoint(words):
        return ""
    if language in ("c", "cpp", "objectivec") and words == ["define"]:
        return "macro"
    if words[0] == "enum":
        return "enum"
    return _KINDS.get(words[-1], "definition")
