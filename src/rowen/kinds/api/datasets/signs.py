"""What a portal's item says that copies of it on other portals say too: identifiers, pages, files. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rowen.core.search.copies import Signs
from rowen.kinds.api.datasets.dataset import in_language
from rowen.kinds.api.datasets.details import File

_IDENTIFIERS = ("identifier", "id", "@id", "uri", "doi", "guid", "sci:doi", "global_id", "dcat_identifier")
_PAGES = ("landingPage", "landing_page", "homepage", "page", "permalink")
_INSIDE = ("resource", "properties", "pids", "metadata")
"""Where portals put what others have at the top."""
_MAX_EACH = 8


def of_item(
    item: Any, *, reference: str, url: str, files: Iterable[File], publisher: Any, more: Iterable[Any] = ()
) -> Signs:
    """`more` are further places with the names of identifiers and pages, such as the extras of CKAN."""
    places = [one for one in (item, *more) if type(one) is dict or isinstance(one, Mapping)]
    # Most have none of these: asking an abstract class costs more than the rest.
    inside = [inner for one in places for name in _INSIDE if (inner := one.get(name))]
    places += [inner for inner in inside if isinstance(inner, Mapping)]
    return Signs(
        identifiers=(reference, *_texts(places, _IDENTIFIERS)),
        pages=(url, *_texts(places, _PAGES)),
        files=[one.url for one in files if one.url],
        publisher=in_language(publisher),
    )


def _texts(places: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for place in places:
        for name in names:
            if value := place.get(name):
                found.update(dict.fromkeys((value,) if isinstance(value, str) else _texts_in(value)))
    return list(found)[:_MAX_EACH]


def _texts_in(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, Mapping):
            one = next((text for name in _IDENTIFIERS if isinstance(text := one.get(name), str)), None)
        if isinstance(one, str) and one:
            yield one
