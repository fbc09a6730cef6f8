"""Items out of an API's answers, which may have any shape.

Where things stand is said by the definition in `rest`. An item becomes a title, a text, an address and flat
metadata that can be filtered by; an offer also one object for whoever looks for companies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from rowen.core import hashing
from rowen.core.web import urls
from rowen.errors import Unparseable
from rowen.kinds.api import dataset
from rowen.kinds.api import text as rest_text
from rowen.kinds.api.rules import Api, absolute, detail_url, joined

MAX_ID_CHARS = 500
_MAX_TITLE_CHARS = 1_000
_MAX_SECONDS = 253_402_300_799
_MILLISECONDS_FROM = 1e11
"""Numbers from here on count milliseconds: as seconds they would be in the year 5138."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An item as a listing names it."""

    id: str
    item: Any = field(repr=False)
    updated: str
    """When it last changed, as the API says it: the validator."""
    at: datetime | None
    """The same as a time, where it is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What becomes a document, not converted yet."""

    title: str
    text: rest_text.Rendered
    url: str
    metadata: Mapping[str, Any]

    @property
    def digest(self) -> bytes:
        return hashing.of_mapping(
            {"title": self.title, "text": self.text.text, "url": self.url, "metadata": dict(self.metadata)}
        )


def items_of(api: Api, answer: Any) -> list[Any]:
    found = api.items.find(answer)
    if isinstance(found, list):
        return found
    said = "nothing" if found is None else f"{_kind(found)} and no list"
    raise Unparseable(
        f"setting `items`: `{api.items.text}` finds {said} in the answer, which is {shape(answer)}",
        hint=f"if nothing stands for an empty list, say so: `not_null({api.items.text}, `[]`)`"
        if found is None
        else f"name the list in it, or, if the items are its values, use `values({api.items.text})`",
    )


def total_of(api: Api, answer: Any) -> int | None:
    found = api.total.find_or_none(answer) if api.total else None
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 16:
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def cursor_of(found: Any, setting: str) -> str | None:
    """The next cursor, or the next address; None at the end. Raises `Unparseable` for what can be neither."""
    if found in (None, "", False, 0):
        return None
    if isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool)):
        return str(found)
    raise Unparseable(f"setting `{setting}`: finds {_kind(found)} where the next page should stand")


def listed(api: Api, item: Any) -> Listed:
    """Raises `Unparseable` for an item without an id."""
    reference = _scalar(api.id.find_or_none(item))
    if not reference:
        raise Unparseable(f"an item without an id: `{api.id.text}` finds nothing in {shape(item)}")
    if len(reference) > MAX_ID_CHARS:
        raise Unparseable(f"an item with an id of {len(reference)} characters, more than {MAX_ID_CHARS}")
    updated = api.updated.find_or_none(item) if api.updated else None
    return Listed(reference, item, _scalar(updated)[:MAX_ID_CHARS], moment(updated))


def with_detail(item: Any, detail: Any) -> dict[str, Any]:
    """The listed item with what was said about it alone, as `detail`."""
    return {**item, "detail": detail} if isinstance(item, dict) else {"item": item, "detail": detail}


def read(api: Api, one: Listed, item: Any, *, home: str) -> Reading:
    """`item` is the listed one, with its detail where there is one."""
    title = dataset.title_of(rest_text.clean(_text(api.title.find_or_none(item)))[:_MAX_TITLE_CHARS], one.id)
    found = {name: _flat(path.find_or_none(item)) for name, path in api.meta.items()}
    return Reading(
        title=title,
        text=rest_text.rendered(title, api.text.find_or_none(item) if api.text else None),
        url=_url(api, one, item, home),
        metadata=dataset.tidy(found) | dataset.tidy(_offer(api, one, item)),
    )


def _offer(api: Api, one: Listed, item: Any) -> dict[str, Any]:
    """The flat facts of an offer, and the same as one object for whoever looks for companies."""
    if not api.provider:
        return {}
    found = {name: _flat_text(path.find_or_none(item)) for name, path in api.offer.items()}
    posted = api.offer["posted"].find_or_none(item) if "posted" in api.offer else None
    facts = {"place": found.get("place"), "posted_at": _iso(moment(posted)), "updated_at": _iso(one.at)}
    company = {name: found.get(f"company_{name}") for name in ("id", "name", "website")}
    offer = {"provider": api.provider, "id": one.id, "company": dataset.tidy(company), **facts}
    return {"company": company["name"], **facts, "offer": dataset.tidy(offer)}


def _url(api: Api, one: Listed, item: Any, home: str) -> str:
    if api.url_template:
        return dataset.fill(api.url_template, id=one.id, name=one.id)
    found = api.url.find_or_none(item) if api.url else None
    url = absolute(rest_text.clean(found), home) if isinstance(found, str) and found.strip() else None
    if url is not None and len(url) <= urls.MAX_CHARS:
        return urls.without_credentials(url)
    return detail_url(api, home, one.id) if api.detail else joined(home, api.path, "")


def moment(value: Any) -> datetime | None:
    """A time, however it is written: ISO 8601, RFC 2822, seconds or milliseconds since 1970."""
    if isinstance(value, str):
        text = value.strip()[:64]
        if text.isascii() and text.isdigit() and len(text) >= 9:
            value = int(text)
        else:
            return _written(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) > _MAX_SECONDS * 1000:
        # A whole number may be too large even to be divided.
        return None
    seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
    # NaN and infinity are not within any bounds.
    return datetime.fromtimestamp(seconds, UTC) if 0 <= seconds <= _MAX_SECONDS else None


def _written(text: str) -> datetime | None:
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = parse(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError, LookupError, TypeError):
            continue
    return None


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at is not None else ""


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return rest_text.clean(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return dataset.in_language(value) if isinstance(value, list | dict) else _scalar(value)
    except RecursionError:
        # Nobody filters by what is nested so deeply.
        return ""


def _flat(value: Any) -> str | list[str]:
    """What can be filtered by: a text, or a list of them."""
    if isinstance(value, list):
        # In an order of our own: APIs answer lists in whatever order they have today.
        return sorted({text for one in value if (text := _text(one))})
    return _text(value)


def _flat_text(value: Any) -> str:
    found = _flat(value)
    return ", ".join(found) if isinstance(found, list) else found


def shape(value: Any) -> str:
    """What a value is, for messages: its names, never its values."""
    if isinstance(value, dict):
        names = ", ".join(f"`{str(name)[:40]}`" for name in list(value)[:8])
        return f"an object with {names}" if names else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return _kind(value)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
