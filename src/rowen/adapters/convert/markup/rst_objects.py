"""What directives of reStructuredText define: `.. py:function:: gather(*aws)` is `asyncio.gather`.

A signature is read as far as its name goes. Of a member the name is that of its class and its own, of Python
with the module in front, as Sphinx makes the addresses of its pages.
"""

from __future__ import annotations

import re

from rowen.adapters.convert.definition import Definition, Place

# What a directive says that a thing is, where that is not its own name.
_KINDS = {
    "classmethod": "method", "staticmethod": "method", "abstractmethod": "method",
    "coroutinemethod": "method", "decoratormethod": "method", "coroutinefunction": "function",
    "awaitablefunction": "function", "decorator": "function", "envvar": "variable", "var": "variable",
    "confval": "setting", "cmdoption": "option", "pdbcommand": "command", "opcode": "instruction",
    "django-admin": "command", "django-admin-option": "option", "templatetag": "tag",
    "templatefilter": "filter", "fieldlookup": "lookup",
}  # fmt: skip
_OWN_NAMES = frozenset((
    "function", "class", "method", "attribute", "data", "exception", "property", "option", "setting", "macro",
    "type", "struct", "enum", "enumerator", "member", "union", "concept", "directive", "role",
))  # fmt: skip
_OF_PYTHON = frozenset((
    "function", "class", "method", "classmethod", "staticmethod", "abstractmethod", "attribute", "data",
    "exception", "decorator", "decoratormethod", "property", "coroutinefunction", "coroutinemethod",
    "awaitablefunction",
))  # fmt: skip
"""That have modules and classes around them, if no other language is named."""
_NAMED_WHOLE = frozenset(("setting", "variable", "command", "tag", "filter", "lookup", "instruction"))
"""Their names may have dashes; what follows is their arguments."""
_MEMBERS = frozenset(("method", "attribute", "property", "member", "enumerator"))
_OTHERS = frozenset((
    "c", "cpp", "js", "rst", "php", "rb", "go", "java", "sh", "http", "std", "mat", "ml", "lua",
))  # fmt: skip
_ARGUMENTS = re.compile(r"[(\[=]|->|(?<!:):(?!:)|\s+-\s")
_WORD = re.compile(r"[~\w.$:]+")
_POINTER = re.compile(r"\(\*\s*(\w+)\)")
_OPTION = re.compile(r"(?:^|(?<=[\s,|/]))(--?[\w?][\w-]*|/[\w?]+|\+\w+)")

NAMES = _OWN_NAMES | _KINDS.keys()
"""The last parts of the names of directives that define something."""


def definition(directive: str, signature: str, place: Place, module: str) -> Definition | None:
    """What the first signature of a directive defines; None where it has no name."""
    domain, _, name = directive.lower().rpartition(":")
    if name not in NAMES:
        return None
    kind = _KINDS.get(name, name)
    in_python = domain == "py" or (name in _OF_PYTHON and domain not in _OTHERS)
    called = _name(kind, signature, in_c=domain in ("c", "cpp"))
    if not called:
        return None
    if in_python:
        called = _in_full(called, kind, place.around, module)
    elif place.around and kind in _MEMBERS and domain in _OTHERS and not _is_within(called, place.around):
        called = f"{place.around}{'::' if domain == 'cpp' else '.'}{called}"
    return place.definition("", kind, called, signature)


def _name(kind: str, signature: str, *, in_c: bool) -> str:
    if kind == "option":
        options: list[str] = _OPTION.findall(signature)
        return max(options, key=len) if options else ""
    if kind in _NAMED_WHOLE:
        return signature.partition(" ")[0].partition("(")[0].partition("=")[0].rstrip(":")
    if in_c and (pointer := _POINTER.search(signature)):
        return pointer[1]
    head = signature[: found.start()] if (found := _ARGUMENTS.search(signature)) else signature
    words: list[str] = _WORD.findall(head)
    if not words:
        return ""
    # Types, or words like `async`, stand before the name.
    is_last = in_c or signature[len(head) :].startswith("(")
    return (words[-1] if is_last else words[0]).strip(".:~")


def _in_full(name: str, kind: str, around: str, module: str) -> str:
    if around and not _is_within(name, around):
        # Inside `asyncio.Task`, both `cancel` and `Task.cancel` may stand for it.
        last = around.rpartition(".")[2]
        return f"{around}{name.removeprefix(last)}" if name.startswith(f"{last}.") else f"{around}.{name}"
    if module and not around and not _is_within(name, module):
        return f"{module}.{name}"
    return name


def _is_within(name: str, around: str) -> bool:
    return name.startswith((f"{around}.", f"{around}::"))
