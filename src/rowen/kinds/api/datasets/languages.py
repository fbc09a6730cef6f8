"""Datasets in several languages: what a record says in each, and which language is shown first.

Portals write languages as maps (`{"de": ..., "fr": ...}`, also as JSON inside a text) or as literals with a
language (`{"@value": ..., "@language": "de"}`). The document begins with the language to show first; every
other one is a section of its own. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rowen.core.search.languages import heading_mark, tag_of
from rowen.kinds.api.datasets import dataset

_TAG = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*", re.IGNORECASE)
_WRAPPED = ("@value", "value", "display_name", "label", "name")


class Version(NamedTuple):
    """What a dataset says in one language."""

    language: str
    title: str
    description: str


def versions(title: Any, description: Any, language: str) -> list[Version]:
    """One for each language that says something of its own, the one to show first at the start.

    Empty where fewer than two languages are told apart.
    """
    if _is_plain(title) and _is_plain(description):
        return []
    titles, descriptions = texts_by_language(title), texts_by_language(description)
    known = dict.fromkeys((*titles, *descriptions))
    if len(known) < 2:
        return []
    first = chosen(known, language)
    found: list[Version] = []
    for one in (first, *sorted(known.keys() - {first})):
        said = descriptions.get(one) or ("" if one != first or descriptions else _plain(description))
        name = titles.get(one) or (found[0].title if found else dataset.in_language(title, one))
        version = Version(one, dataset.title_of(name), said)
        if not any((version.title, said or before.description) == before[1:] for before in found):
            found.append(version)
    return found if len(found) > 1 else []


def chosen(known: Iterable[str], language: str) -> str:
    """The language asked for, English, the first."""
    return dataset.key_for(dict.fromkeys(known), language) or ""


def texts_by_language(value: Any) -> dict[str, str]:
    """The texts of a map of languages by tag; empty for what is no such map."""
    return {tag: "\n\n".join(texts) for tag, texts in _by_language(value).items()}


def in_others(value: Any, first: str) -> dict[str, list[str]]:
    """The texts of all languages but the one that is shown, by tag."""
    found: dict[str, list[str]] = {}
    for one in value if isinstance(value, list) and not _is_literals(value) else [value]:
        for tag, texts in _by_language(one).items():
            if tag != first:
                found.setdefault(tag, []).extend(texts)
    return {tag: sorted(set(texts)) for tag, texts in sorted(found.items())}


def facts_in_others(facts: Mapping[str, Any], first: str) -> dict[str, list[str]]:
    """The same for facts by their names: `tags (fr)`."""
    return {
        f"{name} ({tag})": texts
        for name, value in facts.items()
        for tag, texts in in_others(value, first).items()
    }


def tags_of(title: Any, description: Any, *said: Any) -> list[str]:
    """The languages of a record: those of its texts, or those it names."""
    plain = _is_plain(title) and _is_plain(description)
    found = () if plain else {*texts_by_language(title), *texts_by_language(description)}
    found = found or {
        tag
        for value in said
        for text in dataset.every_text(value)
        for part in text.split(",")
        if (tag := tag_of(part))
    }
    return sorted(found)


def marked(language: str) -> str:
    """What stands behind a heading whose section is in a language."""
    return f" {heading_mark(language)}"


def _is_plain(value: Any) -> bool:
    """Is it a text that cannot be a map of languages?"""
    return value is None or (isinstance(value, str) and not value.lstrip().startswith('{"'))


def _plain(value: Any) -> str:
    return dataset.in_language(value)


def _by_language(value: Any) -> dict[str, list[str]]:
    if isinstance(value, str):
        value = dataset.map_in(value.strip()) if value.lstrip().startswith('{"') else None
    if isinstance(value, list):
        value = _map_of_literals(value)
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("@language"), str) and isinstance(value.get("@value"), str):
        value = {value["@language"]: value["@value"]}
    if any(isinstance(value.get(name), str) for name in _WRAPPED):
        return {}
    if not all(isinstance(key, str) and (not key or _TAG.fullmatch(key)) for key in value):
        return {}
    found: dict[str, list[str]] = {}
    for key, said in value.items():
        texts = [text for one in (said if isinstance(said, list) else [said]) if (text := _text(one))]
        if texts and (tag := tag_of(key)):
            found.setdefault(tag, []).extend(texts)
    return found


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _is_literals(values: list[Any]) -> bool:
    return any(isinstance(one, dict) and "@language" in one for one in values)


def _map_of_literals(values: list[Any]) -> dict[str, list[Any]]:
    """A list of literals as a map; a list of one map is that map."""
    if len(values) == 1 and isinstance(values[0], dict) and not _is_literals(values):
        return values[0]
    found: dict[str, list[Any]] = {}
    for one in values:
        if isinstance(one, dict) and isinstance(one.get("@language"), str):
            found.setdefault(one["@language"], []).append(one.get("@value"))
    return found
