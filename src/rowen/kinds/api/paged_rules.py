"""APIs that answer a list page by page: what there is to say about one, and how to read its answers.

A definition is data: where to ask, how pages follow each other, and at which path of an item its title, its
description and the rest are found. A path is keys with dots between; lists on the way are gone through, each
element; `[key=value]` keeps the elements that have it; `a|b` is the first path that finds anything. What asks
and what happens to the items is a flow's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from rowen.errors import Unparseable
from rowen.kinds.api import dataset
from rowen.kinds.api.dataset import Dataset

MIN_PAGE = 10
_GROW_AFTER = 3
_STEP = re.compile(r"(?P<key>[^.\[\]]+)?(?:\[(?P<name>[^=\]]+)=(?P<value>[^\]]*)\])?")
_PLACE = re.compile(r"\{([a-z_]+)\}")


class PageSize:
    """How many items to ask for: half as many after trouble, twice as many after a while without."""

    def __init__(self, largest: int, *, smallest: int = MIN_PAGE) -> None:
        self._smallest = min(smallest, largest)
        self._largest = largest
        self._quiet = 0
        self.current = largest

    def went_well(self) -> None:
        self._quiet += 1
        if self._quiet >= _GROW_AFTER and self.current < self._largest:
            self._quiet = 0
            self.current = min(self.current * 2, self._largest)

    def shrink(self, received: int | None = None) -> bool:
        """False when it cannot be smaller. `received` is how many came last: asking for more is no use."""
        self._quiet = 0
        if self.current <= self._smallest:
            return False
        self.current = max(min(self.current, received or self.current) // 2, self._smallest)
        return True


@dataclass(frozen=True, slots=True)
class Offset:
    """Pages by the number of items before them."""

    start: str = "offset"
    size: str = "limit"
    first: int = 0
    window: int | None = None
    """Nothing is answered from there on."""


@dataclass(frozen=True, slots=True)
class After:
    """Pages by the id of the last item before them: complete, whatever is added or removed meanwhile."""

    last: str
    size: str = "limit"


@dataclass(frozen=True, slots=True)
class NextLink:
    """Each page names the next."""

    path: str
    size: str = ""


@dataclass(frozen=True, slots=True)
class OnePage:
    """Everything at once."""


Paging = Offset | After | NextLink | OnePage


@dataclass(frozen=True, kw_only=True, slots=True)
class Api:
    kind: str
    path: str
    """Below the portal's address."""
    params: Mapping[str, str] = field(default_factory=dict)
    """With every request; `{host}` is the portal's host."""
    paging: Paging
    page_size: int = 100
    items: str
    total: str = ""
    id: str
    name: str = ""
    title: str
    description: str
    modified: str = ""
    url: str = ""
    """Where an item names its own page."""
    landing: str = ""
    """Below the portal's address, for items that do not: `{id}` and `{name}`."""
    one: Mapping[str, str] = field(default_factory=dict)
    """Metadata with one value, by path."""
    many: Mapping[str, str] = field(default_factory=dict)
    resources: str = ""
    resource: tuple[str, str, str] = ("", "", "")
    """Name, address and format of a resource."""
    item: str = ""
    """Where one item is asked for, below the portal's address: `{id}`, `{host}`. A 404 means it is gone."""
    item_listed: bool = False
    """One item is asked for as a list, which is empty when it is gone."""


def find(value: Any, path: str) -> list[Any]:
    """Everything at a path; nothing that is null."""
    for alternative in path.split("|"):
        found = [value]
        for step in _steps(alternative):
            found = [below for one in found for below in _below(one, *step)]
        if found := _flat(found):
            return found
    return []


def first(value: Any, path: str) -> Any:
    return next(iter(find(value, path)), None) if path else None


def total_of(answer: Any, api: Api) -> int | None:
    found = first(answer, api.total)
    try:
        return int(found) if isinstance(found, int | str) and not isinstance(found, bool) else None
    except ValueError:
        return None


def id_of(item: Any, api: Api) -> str:
    found = first(item, api.id)
    return str(found).strip() if isinstance(found, str | int) and not isinstance(found, bool) else ""


def dataset_of(item: Any, api: Api, *, portal: str, language: str, template: str) -> Dataset:
    """Raises `Unparseable` for what cannot be a dataset."""
    reference = id_of(item, api)
    if not reference:
        raise Unparseable("a dataset without an id")
    name = dataset.in_language(first(item, api.name))
    title = dataset.title_of(text(item, api.title, language), name, reference)
    metadata: dict[str, Any] = {key: text(item, path, language) for key, path in api.one.items()}
    metadata |= {key: _texts(item, path, language) for key, path in api.many.items()}
    resources = [
        tuple(text(one, path, language) for path in api.resource) for one in find(item, api.resources)
    ]
    return Dataset(
        id=reference,
        title=title,
        text=dataset.text_of(title, text(item, api.description, language)),
        url=_url(item, api, portal=portal, template=template, id=reference, name=name),
        modified=dataset.in_language(first(item, api.modified)),
        metadata=dataset.tidy(metadata) | dataset.resources_of((r[0], r[1], r[2]) for r in resources),
    )


def text(item: Any, path: str, language: str) -> str:
    return dataset.in_language(find(item, path), language) if path else ""


def _texts(item: Any, path: str, language: str) -> list[str]:
    found = find(item, path)
    # One map of languages to lists is not a list of one map.
    return dataset.every_text(found[0] if len(found) == 1 else found, language)


def request_url(portal: str, host: str, path: str, params: Mapping[str, str | int]) -> str:
    """A path below the portal, with its places filled in."""
    filled = {
        key: value.replace("{host}", host) if isinstance(value, str) else value
        for key, value in params.items()
    }
    query = urlencode(filled)
    joint = "&" if "?" in path else "?"
    return portal + path + (joint + query if query else "")


def item_url(api: Api, portal: str, host: str, reference: str) -> str:
    places = {"id": quote(reference, safe=""), "host": quote(host, safe="")}
    return portal + _PLACE.sub(lambda match: places.get(match[1], match[0]), api.item)


def _url(item: Any, api: Api, *, portal: str, template: str, id: str, name: str) -> str:  # noqa: A002
    if template:
        return dataset.fill(template, id=id, name=name)
    named = dataset.in_language(first(item, api.url))
    if named.startswith(("http://", "https://")):
        return named
    return dataset.fill(portal + api.landing, id=id, name=name) if api.landing else portal


@lru_cache(maxsize=512)
def _steps(path: str) -> list[tuple[str, str, str]]:
    found = (match.group("key", "name", "value") for match in _STEP.finditer(path) if match[0])
    return [(key or "", name or "", value or "") for key, name, value in found]


def _below(value: Any, key: str, name: str, wanted: str) -> list[Any]:
    at = [value]
    if key:
        at = [one.get(key) for one in _flat([value]) if isinstance(one, dict)]
    if name:
        at = [one for one in _flat(at) if isinstance(one, dict) and one.get(name) == wanted]
    return at


def _flat(values: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        if isinstance(value, list):
            flat += _flat(value)
        elif value is not None and value != "":
            flat.append(value)
    return flat
