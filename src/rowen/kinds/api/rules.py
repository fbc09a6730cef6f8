"""An API described by settings: how its pages are asked for, and where in an answer things stand.

`definition` makes an `Api` of settings and refuses what cannot work, before anybody is asked; the rest are
the addresses of its requests. `rest_items` reads the answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import quote, urlencode, urljoin

from rowen.core.window import Window
from rowen.errors import ConfigError
from rowen.kinds.api import expression
from rowen.kinds.api.expression import Expression

PLACES = ("since", "until", "bucket", "page", "offset", "cursor", "limit")
OFFER = ("provider", "company_name", "company_id", "company_website", "place", "posted")
"""What may be said of an offer."""
_PLACE = re.compile(r"\{(" + "|".join((*PLACES, "id")) + r")\}")
_NEEDS = {"since": "window=date", "until": "window=date", "bucket": "window=date", "id": "detail"}
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)


class Paging(StrEnum):
    NONE = "none"
    PAGE = "page"
    OFFSET = "offset"
    CURSOR = "cursor"
    LINK = "link"
    """A `Link` header with `rel="next"` (RFC 8288)."""
    NEXT = "next"
    """An address in the answer."""


class Order(StrEnum):
    """How a listing is sorted by `updated`."""

    DESC = "desc"
    ASC = "asc"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Api:
    path: str
    query: Mapping[str, str]
    repeat: frozenset[str]
    """Names in the query whose values are lists, sent once for each."""
    paging: Paging
    page_first: int
    page_size: int
    cursor: Expression | None
    next: Expression | None
    items: Expression
    total: Expression | None
    id: Expression
    title: Expression
    text: Expression | None
    updated: Expression | None
    url: Expression | None
    url_template: str
    meta: Mapping[str, Expression]
    provider: str
    """Whose offers these are; empty when they are no offers."""
    offer: Mapping[str, Expression]
    detail: str
    windowed: bool
    order: Order
    date_format: str
    buckets: tuple[tuple[str, float | None], ...]
    """Names for "not older than", with how many seconds that is; None for any age."""

    def asks_for(self, place: str) -> bool:
        """Is this sent anywhere in a request for a page?"""
        return any(f"{{{place}}}" in text for text in (self.path, *self.query.values()))


# the definition


def definition(settings: Mapping[str, Any]) -> Api:
    """Raises `ConfigError` for an expression that is none, and for settings that do not fit together."""

    def one(name: str) -> Expression | None:
        return expression.compiled(name, settings[name]) if settings[name] else None

    def needed(name: str) -> Expression:
        return expression.compiled(name, settings[name])

    def many(name: str, values: Mapping[str, str]) -> dict[str, Expression]:
        return {key: expression.compiled(f"{name}.{key}", text) for key, text in values.items()}

    offer = dict(settings["offer"])
    provider = str(offer.pop("provider", ""))
    api = Api(
        path=settings["path"],
        query=settings["param"],
        repeat=frozenset(settings["repeat"]),
        paging=Paging(settings["paging"]),
        page_first=settings["page_first"],
        page_size=settings["page_size"],
        cursor=one("cursor"),
        next=one("next"),
        items=needed("items"),
        total=one("total"),
        id=needed("id"),
        title=needed("title"),
        text=one("text"),
        updated=one("updated"),
        url=one("url"),
        url_template=settings["url_template"],
        meta=many("meta", settings["meta"]),
        provider=provider,
        offer=many("offer", offer),
        detail=settings["detail"],
        windowed=settings["window"] == "date",
        order=Order(settings["order"]),
        date_format=settings["date_format"],
        buckets=tuple(sorted(settings["bucket"].items(), key=lambda one: (one[1] is None, one[1] or 0.0))),
    )
    _check(api, recheck=settings["recheck"])
    return api


def _check(api: Api, *, recheck: int) -> None:
    _check_places(api)
    if api.paging in (Paging.PAGE, Paging.OFFSET, Paging.CURSOR) and not api.asks_for(api.paging):
        raise ConfigError(
            f"setting `paging`: `{api.paging}`, and nothing says where `{{{api.paging}}}` goes",
            hint=f"name the parameter of the query: set `param.{api.paging}` to `{{{api.paging}}}`",
        )
    for paging, name, found in ((Paging.CURSOR, "cursor", api.cursor), (Paging.NEXT, "next", api.next)):
        if api.paging is paging and found is None:
            raise ConfigError(
                f"setting `paging`: `{paging}`, and nothing says where the next one stands in an answer",
                hint=f"give it as JMESPath: set `{name}`, for example to `meta.{name}`",
            )
    if api.windowed and api.updated is None and not (api.asks_for("since") or api.asks_for("bucket")):
        raise ConfigError(
            "setting `window`: `date`, and nothing says which items are of a date",
            hint="send it (set `param.from` to `{since}`), or say where it stands in an item: `updated`",
        )
    if api.order is not Order.NONE and api.updated is None:
        raise ConfigError(
            f"setting `order`: `{api.order}`, and nothing says when an item was updated",
            hint="say where it stands in an item: set `updated`, for example to `updated_at`",
        )
    if api.asks_for("bucket") and not api.buckets:
        raise ConfigError(
            "setting `param`: sends `{bucket}`, and there are none",
            hint="name them with their spans: set `bucket.WEEK` to `7d` and `bucket.ALL` to `any`",
        )
    if recheck and not api.detail:
        raise ConfigError(
            "setting `recheck`: an item is asked for by `detail`, which is not set",
            hint="give its path: set `detail`, for example to `/jobs/{id}`",
        )
    if api.offer and not api.provider:
        raise ConfigError(
            "setting `offer`: nothing says whose offers these are",
            hint="name it: set `offer.provider`, for example to `acme-jobs`",
        )


def _check_places(api: Api) -> None:
    """A place that never has a value would keep its parameter from ever being sent."""
    known = {"limit"}
    if api.windowed:
        known |= {"since", "until", "bucket"}
    if api.paging in (Paging.PAGE, Paging.OFFSET, Paging.CURSOR):
        known.add(api.paging.value)
    texts = {"path": api.path, **{f"param.{name}": text for name, text in api.query.items()}}
    for setting, text in texts.items():
        for place in _PLACE.findall(text):
            first = place == "cursor" and setting == "path"
            if place in known and not first:
                continue
            why = "the first page has none" if first else f"it needs `{_NEEDS.get(place, 'paging')}`"
            raise ConfigError(f"setting `{setting}`: `{{{place}}}` has no value here: {why}")


# requests


def page_url(api: Api, home: str, places: Mapping[str, str]) -> str:
    """A parameter with a place that has no value now is not sent: the first page has no cursor."""
    pairs: list[tuple[str, str]] = []
    for name, text in api.query.items():
        values = [part.strip() for part in text.split(",")] if name in api.repeat else [text]
        pairs += [(name, filled) for value in values if (filled := _filled(value, places)) is not None]
    path = _filled(api.path, {place: quote(value, safe="") for place, value in places.items()})
    return joined(home, path or "", urlencode(pairs))


def detail_url(api: Api, home: str, id: str) -> str:  # noqa: A002
    return joined(home, api.detail.replace("{id}", quote(id, safe="")), "")


def joined(home: str, path: str, query: str) -> str:
    if path:
        # A query that came with the location belongs behind the path.
        home, mark, own = home.partition("?")
        home, query = home.rstrip("/") + path, "&".join(filter(None, (own, query))) if mark else query
    return home + ("&" if "?" in home else "?") + query if query else home


def places_of(api: Api, window: Window | None, *, now: datetime) -> dict[str, str]:
    """What the places about time and size stand for in this run."""
    places = {"limit": str(api.page_size)}
    if window is not None:
        places["since"] = stamp(window.since, api.date_format)
        places["until"] = stamp(window.until, api.date_format, up=True)
        if api.buckets:
            places["bucket"] = bucket(api, (now - window.since).total_seconds())
    return places


def stamp(moment: datetime, date_format: str, *, up: bool = False) -> str:
    """A time as the API wants it, cut to what the format can say; `up` cuts to the later side."""
    moment = moment.astimezone(UTC)
    if date_format == "date":
        day = moment.date()
        whole = moment.time() == datetime.min.time()
        return (day + timedelta(days=1) if up and not whole else day).isoformat()
    if date_format == "unix_ms":
        return str((math.ceil if up else math.floor)(moment.timestamp() * 1000))
    if date_format == "unix":
        return str((math.ceil if up else math.floor)(moment.timestamp()))
    if up and moment.microsecond:
        moment += timedelta(seconds=1)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def bucket(api: Api, age_s: float) -> str:
    """The smallest that reaches back so far; the largest when none does."""
    return next((name for name, span in api.buckets if span is None or span >= age_s), api.buckets[-1][0])


def next_link(header: str) -> str | None:
    """The target of `rel="next"` in a `Link` header."""
    for target, parameters in _LINK.findall(header):
        for quoted, bare in _REL.findall(parameters):
            if "next" in (quoted or bare).lower().split():
                return str(target).strip()
    return None


def absolute(target: str, base: str) -> str | None:
    """A next page's address; None when it cannot be one."""
    try:
        url = urljoin(base, target.strip())
    except ValueError:
        return None
    return url if url.startswith(("http://", "https://")) else None


def _filled(text: str, places: Mapping[str, str]) -> str | None:
    wanted = set(_PLACE.findall(text)) - {"id"}
    if not wanted <= places.keys():
        return None
    return _PLACE.sub(lambda match: places.get(match[1], match[0]), text)
