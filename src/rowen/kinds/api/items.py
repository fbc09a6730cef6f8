"""Items out of an API's answers, which may have any shape.

The definition in `rules` says where things stand. An item becomes a title, a text, an address and flat
metadata that can be filtered by; a job listing also one object for the projection of companies, and a dataset
its resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

from rowen.core import hashing
from rowen.core.search.copies import Signs
from rowen.core.web import urls
from rowen.errors import RowenError, Unparseable
from rowen.kinds.api import expression
from rowen.kinds.api import text as texts
from rowen.kinds.api.datasets import dataset, details, languages, signs
from rowen.kinds.api.datasets.details import File
from rowen.kinds.api.expression import Expression
from rowen.kinds.api.presets.preset import Catalogue
from rowen.kinds.api.rules import Definition, absolute, detail_url, joined
from rowen.kinds.api.tables import columns
from rowen.records import dataclass

MAX_ID_CHARS = 500
_MAX_TITLE_CHARS = 1_000
_MAX_SECONDS = 253_402_300_799
_MILLISECONDS_FROM = 1e11
"""Numbers from here on count milliseconds: as seconds they would be in the year 5138."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An item as a list names it."""

    id: str
    item: Any = field(repr=False)
    validator: str = ""
    """What is the same as long as the item is, where that saves a request or a parse; else empty."""
    at: datetime | None = None
    """When it last changed, where that is known."""
    gone: bool = False
    """The portal says that it was deleted."""
    page: str = ""
    """The address that answered with this item and nothing else: a file of a tree."""


@dataclass(frozen=True, slots=True)
class Broken:
    """An item of a page that could not be had or read; the rest of the page could."""

    id: str
    error: RowenError


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What becomes a document, not converted yet."""

    title: str
    text: str
    """Markdown, or a page of HTML; beginning with the title."""
    is_html: bool = False
    url: str
    metadata: Mapping[str, Any]
    item: Any = field(default=None, repr=False)
    """The item with what was said about it alone, where that is more than its list says."""

    left_out: int = 0
    """Facts for which the index has no room."""

    signs: Callable[[], Signs] | None = field(default=None, repr=False)
    """Of a dataset: what tells that it is the same on another portal, looked for when it is stored."""

    listed: bytes | None = field(default=None, repr=False)
    """The item as its list says it, as JSON, where `item` has more: it tells whether the list is the same."""

    @property
    def digest(self) -> bytes:
        """Of what is read, before a page of HTML is converted."""
        return hashing.of_mapping(
            {"title": self.title, "text": self.text, "url": self.url, "metadata": dict(self.metadata)}
        )


def items_of(api: Definition, answer: Any) -> list[Any]:
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


def total_of(api: Definition, answer: Any) -> int | None:
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


def listed(api: Definition, item: Any, page: str = "") -> Listed:
    """Raises `Unparseable` for an item without an id."""
    reference = _scalar(api.id.find_or_none(item))
    if not reference:
        raise Unparseable(f"an item without an id: `{api.id.text}` finds nothing in {shape(item)}")
    # The id of a dataset may be an address.
    most = MAX_ID_CHARS if api.catalogue is None else urls.MAX_CHARS
    if len(reference) > most:
        raise Unparseable(f"an item with an id of {len(reference)} characters, more than {most}")
    updated = api.updated.find_or_none(item) if api.updated else None
    gone = bool(api.deleted.find_or_none(item)) if api.deleted else False
    return Listed(reference, item, _validator(api, item, updated), moment(updated), gone, page)


def _validator(api: Definition, item: Any, updated: Any) -> str:
    # An item that comes whole in the list is compared by what it says: its time of change saves nothing.
    if not api.detail:
        return ""
    try:
        return _scalar(updated)[:MAX_ID_CHARS] or hashing.of_mapping({"item": item}).hex()
    except RecursionError:
        return ""


def with_detail(item: Any, detail: Any) -> dict[str, Any]:
    """The listed item with what was said about it alone, as `detail`."""
    return {**item, "detail": detail} if isinstance(item, dict) else {"item": item, "detail": detail}


def read(
    api: Definition,
    one: Listed,
    item: Any,
    *,
    home: str,
    language: str = "",
    asked: Sequence[Any] = (),
) -> Reading:
    """`item` is the listed one, with its detail where there is one; `asked` are its columns by request."""
    if api.catalogue is not None:
        return _dataset(api, api.catalogue, one, item, home=home, language=language, asked=asked)
    title = dataset.title_of(texts.clean(_text(api.title.find_or_none(item)))[:_MAX_TITLE_CHARS], one.id)
    found = {name: _flat(path.find_or_none(item)) for name, path in api.meta.items()}
    rendered = texts.rendered(title, api.text.find_or_none(item) if api.text else None)
    return Reading(
        title=title,
        text=rendered.text,
        is_html=rendered.is_html,
        url=_url(api, one, item, home),
        metadata=dataset.tidy(found) | dataset.tidy(_offer(api, one, item)),
    )


def _dataset(
    api: Definition,
    catalogue: Catalogue,
    one: Listed,
    item: Any,
    *,
    home: str,
    language: str,
    asked: Sequence[Any],
) -> Reading:
    def found(path: Expression | None) -> Any:
        return path.find_or_none(item) if path else None

    def own(text: str) -> Any:
        return found(expression.compiled("catalogue", text)) if text else None

    name = dataset.in_language(own(catalogue.name), language)
    titles, descriptions = found(api.title), found(api.text)
    versions = languages.versions(titles, descriptions, language)
    shown = versions[0].language if versions else language
    title = dataset.title_of(dataset.in_language(titles, shown), name, one.id)
    raw = {key: found(path) for key, path in api.meta.items()}
    tags = languages.tags_of(titles, descriptions, *_unnested(raw.get("language")))
    metadata: dict[str, Any] = {
        key: dataset.every_text(_one_or_many(value), shown)
        if key in catalogue.lists
        else dataset.in_language(value, shown)
        for key, value in raw.items()
    }
    listed = own(catalogue.resources)
    files = [_file(file, shown) for file in (listed if isinstance(listed, list) else ())]
    described = metadata | languages.facts_in_others(raw, shown) if versions else metadata
    own_columns = columns.columns_of(own(catalogue.columns) or asked, shown)
    text, left_out = details.document_text(
        title, dataset.whole_text(descriptions, shown), described, files, versions, own_columns
    )
    named = columns.named((own_columns, *(file.columns for file in files)))
    url = _dataset_url(api, catalogue, one, found(api.url), home=home, name=name)
    publisher = metadata.get("publisher") or metadata.get("organization")
    return Reading(
        title=title,
        text=text,
        url=url,
        signs=partial(signs.of_item, item, reference=one.id, url=url, files=files, publisher=publisher),
        metadata=dataset.tidy(_with_languages(metadata, tags)) | dataset.resources_of(files) | named,
        left_out=left_out,
    )


def area_of(catalogue: Catalogue, item: Any) -> Any:
    """The area that a dataset is about, as its portal wrote it."""
    return expression.compiled("catalogue", catalogue.area).find_or_none(item) if catalogue.area else None


def _with_languages(metadata: dict[str, Any], tags: list[str]) -> dict[str, Any]:
    named = metadata.get("language")
    if [named] == tags:
        return metadata
    return {key: value for key, value in metadata.items() if key != "language"} | {"languages": tags}


def _file(said: list[Any], language: str) -> File:
    """From its name, address, format, description and schema, as far as the preset finds them."""
    name, url, form, about, schema = [*said[:5], *[None] * 5][:5]
    also = tuple(
        text
        for value in (name, about)
        for others in languages.in_others(value, language).values()
        for text in others
    )
    return File(
        dataset.in_language(name, language),
        dataset.in_language(url, language),
        dataset.in_language(form, language),
        dataset.in_language(about, language),
        also,
        columns.columns_of(schema, language) if schema else (),
    )


def _one_or_many(value: Any) -> Any:
    """One map of languages to lists is not a list of one map."""
    found = _unnested(value)
    return found[0] if len(found) == 1 else found


def _unnested(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [inner for one in value for inner in _unnested(one)]
    return [] if value is None or value == "" else [value]


def _dataset_url(
    api: Definition, catalogue: Catalogue, one: Listed, found: Any, *, home: str, name: str
) -> str:
    if api.url_template:
        return dataset.fill(api.url_template, id=one.id, name=name)
    url = dataset.in_language(found)
    if one.page:
        # Links in a file are relative to it, and many files have none that leads to themselves.
        url = absolute(url, one.page) or one.page
    if url.startswith(("http://", "https://")):
        return url
    if not catalogue.landing:
        return urls.origin_of(home)
    return dataset.fill(home + catalogue.landing, id=one.id, name=name)


def _offer(api: Definition, one: Listed, item: Any) -> dict[str, Any]:
    """The flat facts of a job listing, and the same as one object for the projection of companies."""
    if not api.provider:
        return {}
    found = {name: _flat_text(path.find_or_none(item)) for name, path in api.offer.items()}
    posted = api.offer["posted"].find_or_none(item) if "posted" in api.offer else None
    facts = {"place": found.get("place"), "posted_at": _iso(moment(posted)), "updated_at": _iso(one.at)}
    company = {name: found.get(f"company_{name}") for name in ("id", "name", "website")}
    offer = {"provider": api.provider, "id": one.id, "company": dataset.tidy(company), **facts}
    return {"company": company["name"], **facts, "offer": dataset.tidy(offer)}


def _url(api: Definition, one: Listed, item: Any, home: str) -> str:
    if api.url_template:
        return dataset.fill(api.url_template, id=one.id, name=one.id)
    found = api.url.find_or_none(item) if api.url else None
    url = absolute(texts.clean(found), home) if isinstance(found, str) and found.strip() else None
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
        return texts.clean(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return dataset.in_language(value) if isinstance(value, list | dict) else _scalar(value)
    except RecursionError:
        return ""


def _flat(value: Any) -> str | list[str]:
    """What can be filtered by: a text, or a list of them."""
    if isinstance(value, list):
        # Sorted: the order of a list in an answer may differ from one day to the next.
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
