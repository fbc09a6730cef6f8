"""The definition of an API that answers in pages, and the addresses of its requests.

Settings that cannot work are refused before a request is sent. How an item is read is in `items`.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import quote, urlencode, urljoin

from rowen.core.web import urls
from rowen.core.window import Window
from rowen.errors import ConfigError
from rowen.kinds.api import expression
from rowen.kinds.api.datasets.choice import Choice, pushed
from rowen.kinds.api.expression import Expression
from rowen.kinds.api.presets.preset import Preset

PLACES = ("since", "until", "bucket", "page", "offset", "position", "cursor", "limit")
OFFER = ("provider", "company_name", "company_id", "company_website", "place", "posted")
"""What a job listing may have."""
_PLACE = re.compile(r"\{(" + "|".join((*PLACES, "id")) + r")\}")
_NEEDS = {"since": "window=date", "until": "window=date", "bucket": "window=date", "id": "detail"}
_SAME = {"offset": ("offset", "position")}
"""Two places for one thing: how many items come before a page, and the number of its first, from one."""
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)


class Paging(StrEnum):
    """How the next page is found."""

    NONE = "none"
    PAGE = "page"
    OFFSET = "offset"
    CURSOR = "cursor"
    TOKEN = "token"
    """A cursor that stands for the whole question: no other parameter is sent with it."""
    LAST_ID = "last_id"
    """The id of the last item is the cursor: no item is missed when others come or go meanwhile."""
    LINK = "link"
    """A `Link` header with `rel="next"` (RFC 8288)."""
    NEXT = "next"
    """An address in the answer."""
    LINKS = "links"
    """Addresses in the answer, each of a further page: a tree of documents."""

    @property
    def place(self) -> str:
        """What stands in a request for the position; empty when the answer has the next address."""
        match self:
            case Paging.CURSOR | Paging.TOKEN | Paging.LAST_ID:
                return "cursor"
            case Paging.PAGE | Paging.OFFSET:
                return self.value
        return ""


class Order(StrEnum):
    """How a listing is sorted by `updated`."""

    DESC = "desc"
    ASC = "asc"
    NONE = "none"


class Definition:
    """An API's settings, its expressions compiled, and what its preset says beyond them.

    Raises `ConfigError` for an expression that is none, and for settings that do not fit together.
    """

    def __init__(self, settings: Mapping[str, Any], preset: Preset) -> None:
        def one(name: str) -> Expression | None:
            return expression.compiled(name, settings[name]) if settings[name] else None

        def many(name: str, values: Mapping[str, str]) -> dict[str, Expression]:
            return {key: expression.compiled(f"{name}.{key}", text) for key, text in values.items()}

        self.path: str = settings["path"]
        self.query: Mapping[str, str] = settings["param"]
        self.always = frozenset(settings["always"])
        """Names in the query that are sent beside a token."""
        self.repeat = frozenset(settings["repeat"])
        """Names in the query whose values are lists, sent once for each."""
        self.paging = Paging(settings["paging"])
        self.page_first: int = settings["page_first"]
        self.page_size: int = settings["page_size"]
        self.cursor, self.next, self.total = one("cursor"), one("next"), one("total")
        self.items, self.id, self.title = (
            expression.compiled(name, settings[name]) for name in ("items", "id", "title")
        )
        self.text, self.updated, self.url = one("text"), one("updated"), one("url")
        self.url_template: str = settings["url_template"]
        self.meta = many("meta", settings["meta"])
        offer = dict(settings["offer"])
        self.provider = str(offer.pop("provider", ""))
        """The job board's name; empty when the items are no job listings."""
        self.offer = many("offer", offer)
        self.detail: str = settings["detail"]
        self.windowed: bool = settings["window"] == "date"
        self.order = Order(settings["order"])
        self.date_format: str = settings["date_format"]
        self.buckets: list[tuple[str, float | None]] = sorted(
            settings["bucket"].items(), key=lambda one: (one[1] is None, one[1] or 0.0)
        )
        """Names for "not older than", with how many seconds that is; None for any age."""
        self.catalogue = preset.catalogue
        gone = preset.catalogue.deleted if preset.catalogue else ""
        self.deleted = expression.compiled("deleted", gone) if gone else None
        self.choice = Choice(settings if preset.catalogue else {})
        templates = preset.catalogue.choices if preset.catalogue else {}
        self.pushed = pushed(self.choice, templates)
        """Parameters of every page that say which datasets are wanted."""
        self.pushed_names = frozenset(templates)
        self.accept = preset.accept
        self.decode, self.graph_in = preset.decode, preset.graph_in
        _check(self, recheck=settings["recheck"])

    @property
    def noun(self) -> str:
        return "datasets" if self.catalogue else "items"

    def of_changes(self) -> Definition:
        """The same for a run that asks what changed."""
        asking = copy.copy(self)
        asking.query = {**self.query, **(self.catalogue.changes if self.catalogue else {})}
        return asking

    def asks_for(self, place: str) -> bool:
        """Is this sent anywhere in a request for a page?"""
        return any(f"{{{place}}}" in text for text in (self.path, *self.query.values()))


def _check(api: Definition, *, recheck: int) -> None:
    _check_places(api)
    place = api.paging.place
    by_address = api.paging in (Paging.NEXT, Paging.LINKS)
    name = "next" if by_address else "cursor"
    found = api.next if by_address else api.cursor
    dated = api.updated is not None or api.asks_for("since") or api.asks_for("bucket")
    for wrong, message, hint in (
        (
            place and not any(api.asks_for(one) for one in _SAME.get(place, (place,))),
            f"setting `paging`: `{api.paging}`, and nothing says where `{{{place}}}` goes",
            f"name the parameter of the query: set `param.{place}` to `{{{place}}}`",
        ),
        (
            api.paging in (Paging.CURSOR, Paging.TOKEN, Paging.NEXT, Paging.LINKS) and found is None,
            f"setting `paging`: `{api.paging}`, and nothing says where the next one stands in an answer",
            f"give it as JMESPath: set `{name}`, for example to `meta.{name}`",
        ),
        (
            api.windowed and not dated,
            "setting `window`: `date`, and nothing says which items are of a date",
            "send it (set `param.from` to `{since}`), or say where it stands in an item: `updated`",
        ),
        (
            api.order is not Order.NONE and api.updated is None,
            f"setting `order`: `{api.order}`, and nothing says when an item was updated",
            "say where it stands in an item: set `updated`, for example to `updated_at`",
        ),
        (
            api.asks_for("bucket") and not api.buckets,
            "setting `param`: sends `{bucket}`, and there are none",
            "name them with their spans: set `bucket.WEEK` to `7d` and `bucket.ALL` to `any`",
        ),
        (
            recheck and not api.detail,
            "setting `recheck`: an item is asked for by `detail`, which is not set",
            "give its path: set `detail`, for example to `/jobs/{id}`",
        ),
        (
            api.offer and not api.provider,
            "setting `offer`: nothing says which job board these are of",
            "name it: set `offer.provider`, for example to `acme-jobs`",
        ),
    ):
        if wrong:
            raise ConfigError(message, hint=hint)


def _check_places(api: Definition) -> None:
    """A parameter whose place never has a value would never be sent."""
    known = {"limit", *_SAME.get(api.paging.place, (api.paging.place,))}
    if api.windowed or (api.catalogue is not None and api.catalogue.sliced):
        known |= {"since", "until", "bucket"}
    texts = {"path": api.path, **{f"param.{name}": text for name, text in api.query.items()}}
    for setting, text in texts.items():
        for place in _PLACE.findall(text):
            first = place == "cursor" and setting == "path"
            if place in known and not first:
                continue
            why = "the first page has none" if first else f"it needs `{_NEEDS.get(place, 'paging')}`"
            raise ConfigError(f"setting `{setting}`: `{{{place}}}` has no value here: {why}")


# requests


def page_url(api: Definition, home: str, places: Mapping[str, str]) -> str:
    """A parameter with a place that has no value now is not sent: the first page has no cursor."""
    if "offset" in places:
        places = {**places, "position": str(int(places["offset"]) + 1)}
    pairs: list[tuple[str, str]] = []
    alone = api.paging is Paging.TOKEN and "cursor" in places
    for name, text in api.query.items():
        if alone and "{cursor}" not in text and name not in api.always:
            continue
        values = [part.strip() for part in text.split(",")] if name in api.repeat else [text]
        pairs += [(name, filled) for value in values if (filled := _filled(value, places)) is not None]
    if not alone:
        pairs += api.pushed
    path = _filled(api.path, {place: quote(value, safe="") for place, value in places.items()})
    return joined(home, path or "", urlencode(pairs))


def detail_url(api: Definition, home: str, id: str) -> str:  # noqa: A002
    return joined(home, api.detail.replace("{id}", quote(id, safe="")), "")


def check_url(check: str, home: str, id: str, own: Mapping[str, Any]) -> str:  # noqa: A002
    """`own` are the settings of the source: `{NAME}` becomes the value."""
    places = {name: value for name, value in own.items() if isinstance(value, str)}
    places |= {"id": id, "host": urls.host_of(home)}
    for name, value in places.items():
        check = check.replace(f"{{{name}}}", quote(value, safe=""))
    return joined(home, check, "")


def joined(home: str, path: str, query: str) -> str:
    if path:
        # A query that came with the location belongs behind the path.
        home, mark, own = home.partition("?")
        home, query = home.rstrip("/") + path, "&".join(filter(None, (own, query))) if mark else query
    return home + ("&" if "?" in home else "?") + query if query else home


def places_of(api: Definition, window: Window | None, *, now: datetime) -> dict[str, str]:
    """What the places about time stand for in this run."""
    places: dict[str, str] = {}
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


def bucket(api: Definition, age_s: float) -> str:
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
