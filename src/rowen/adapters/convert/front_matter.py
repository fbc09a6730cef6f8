"""Front matter: the block at the head of a Markdown file that generators read and readers do not see.

It is YAML between lines of `---`, or TOML between lines of `+++`. Of YAML the reader knows `key: value` lines
and values folded over several lines, not the whole language.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FIELDS = ("title", "description", "lang")

_YAML = re.compile(r"---[ \t]*\n((?:[^\n]*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+\+\+[ \t]*\n((?:[^\n]*\n)*?)\+\+\+[ \t]*(?:\n|\Z)")
_YAML_LINE = re.compile(r"[ \t]*(?:#|-(?:[ \t]|$)|$)|[ \t]|[A-Za-z0-9_.\"'-]+[ \t]*:(?:[ \t]|$)|[\]}]")
_BLOCK = r"[>|][-+0-9]*[ \t]*"
_FIELD = re.compile(
    rf"^({'|'.join(FIELDS)})[ \t]*:[ \t]*"
    rf"(?:{_BLOCK}\n((?:[ \t]+\S[^\n]*\n?|[ \t]*\n)+)|((?!{_BLOCK}$)\S.*?)[ \t]*$)",
    re.MULTILINE,
)
_ESCAPED = re.compile(r'\\(["\\/])')


class FrontMatter(NamedTuple):
    fields: dict[str, str]
    """Those of `FIELDS` that it has and that say something."""
    end: int
    """Where the text behind it begins; 0 where there is none."""


def front_matter(text: str) -> FrontMatter:
    """Of a text whose lines end with `\\n`."""
    if text.startswith("+++"):
        return _toml(text)
    found = _YAML.match(text)
    if found is None or not all(_YAML_LINE.match(line) for line in found[1].split("\n")):
        return FrontMatter({}, 0)
    said = {
        name: " ".join(folded.split()) if folded else _unquoted(value)
        for name, folded, value in _FIELD.findall(found[1])
    }
    return FrontMatter({name: words for name, words in said.items() if words}, found.end())


def _toml(text: str) -> FrontMatter:
    found = _TOML.match(text)
    if found is None:
        return FrontMatter({}, 0)
    import tomllib

    try:
        values = tomllib.loads(found[1])
    except (tomllib.TOMLDecodeError, RecursionError):
        return FrontMatter({}, 0)
    said = {name: values[name] for name in FIELDS if isinstance(values.get(name), str)}
    return FrontMatter(
        {name: words for name, value in said.items() if (words := " ".join(value.split()))}, found.end()
    )


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    inner = value[1:-1]
    return inner.replace("''", "'") if value[0] == "'" else _ESCAPED.sub(r"\1", inner)
