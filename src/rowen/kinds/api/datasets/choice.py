"""Which datasets of a portal are harvested: by organisation, group, theme, type, format, tag, words and area.

What an API can filter by is sent with the request. Every dataset that comes is looked at all the same:
portals ignore filters, and names are spelt in many ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rowen.core.params import Param, what, words
from rowen.kinds.api.datasets import areas

NOT_CHOSEN = "not_chosen"
"""The reason of what the settings leave out."""
LISTS = ("organizations", "groups", "themes", "types", "formats", "tags")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "organizations": ("organization", "organization_name", "publisher"),
    "groups": ("groups", "group_names", "category"),
    "themes": ("themes", "category"),
    "types": ("type",),
    "formats": ("formats",),
    "tags": ("tags",),
}
"""Where the facts about a dataset have what a setting names."""


def _area(text: str) -> str:
    if text and areas.of_text(text) is None:
        raise ValueError("expected west,south,east,north in degrees, such as `5.9,45.8,10.5,47.8`")
    return text


PARAMS: tuple[Param, ...] = (
    what("organizations", [], "Only datasets of these organisations, by name or title", words),
    what("groups", [], "Only datasets in these groups", words),
    what("themes", [], "Only datasets of these themes", words),
    what("types", [], "Only datasets of these types", words),
    what("formats", [], "Only datasets with a file in one of these formats: CSV,JSON", words),
    what("tags", [], "Only datasets with one of these tags", words),
    what("query", "", "Only datasets with these words"),
    what("bbox", "", "Only datasets about this area: west,south,east,north in degrees", _area),
)


class Choice:
    """What the settings of a source choose."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.lists: dict[str, list[str]] = {name: found for name in LISTS if (found := settings.get(name))}
        self.query: str = settings.get("query", "")
        self.bbox: str = settings.get("bbox", "")
        self._wanted = {name: {_folded(one) for one in found} for name, found in self.lists.items()}
        self._words = _folded(self.query).split()
        self._area = areas.of_text(self.bbox)

    def __bool__(self) -> bool:
        return bool(self.lists or self.query or self.bbox)

    def fits(self, facts: Mapping[str, Any], text: str, area: Any = None, *, searched: bool = False) -> bool:
        """Does a dataset belong to it? `searched` says that the portal's own search has found it."""
        for name, wanted in self._wanted.items():
            said = {_folded(one) for field in _FIELDS[name] for one in _texts(facts.get(field))}
            if not wanted & said:
                return False
        if self._words and not searched:
            folded = _folded(text)
            if not all(word in folded for word in self._words):
                return False
        if self._area is None:
            return True
        found = areas.of_value(area if area is not None else facts.get("spatial"))
        return found is not None and areas.meet(self._area, found)


def pushed(choice: Choice, templates: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """The parameters of a request that say so, as an API takes them: by setting, a name and a value.

    A list of several values is not sent: APIs differ in whether they mean all of them or any.
    """
    given = {name: found[0] for name, found in choice.lists.items() if len(found) == 1}
    given |= {name: text for name, text in (("query", choice.query), ("bbox", choice.bbox)) if text}
    return [
        (templates[name][0], templates[name][1].replace("{value}", text))
        for name, text in given.items()
        if name in templates
    ]


def _texts(value: Any) -> Iterable[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
