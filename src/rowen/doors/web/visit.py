"""One request of a person: who asks, what they may do, and how the answer is made.

A page is a value: a template and its data. The same data is the answer of the address with `.json` behind it,
so that a page shows nothing that a program cannot have.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request

from rowen.config import Setting
from rowen.core.safety.access import Scope
from rowen.core.source import Source
from rowen.doors import sessions
from rowen.engine.ports import Ports
from rowen.errors import NotFound
from rowen.managing.find import find
from rowen.service.sync_queue import SyncQueue

LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
ROWS = 100
"""How many rows a list has; the others are on further pages."""
MAX_PAGE = 100_000


@dataclass(frozen=True, kw_only=True)
class House:
    """What all requests share."""

    ports: Ports
    queue: SyncQueue
    settings: Sequence[Setting] = ()
    """The values in force, with where each came from."""
    store_name: str = ""
    """The store as people call it, without credentials; for the foot of each page."""


@dataclass(frozen=True, kw_only=True)
class Page:
    template: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    tab: str = ""
    """Which entry of the bar is the current one."""
    status: int = 200
    events: str = ""
    """The address of the stream that keeps this page current."""
    scripts: tuple[str, ...] = ()
    alone: bool = False
    """Our script asks for it and takes a part out of it: it goes without the bar and the foot."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What the bar of every page tells of all sources."""

    need_you: int = 0
    has_offers: bool = False
    """There are sources of job listings."""


@dataclass(frozen=True, kw_only=True)
class Moved:
    """The answer to a change: where to look at what came of it."""

    to: str
    cookie: str | None = None
    """A session that begins with it; empty for one that ends."""


@dataclass(frozen=True, kw_only=True)
class Refused(Exception):
    """What is refused by the page itself."""

    status: int
    detail: str
    hint: str | None = None


class Visit:
    def __init__(self, house: House, request: Request) -> None:
        self.house = house
        self.request = request
        self.ports = house.ports
        self.queue = house.queue
        self.now: datetime = house.ports.clock.now()
        self.held: Scope | None = request.scope.get("rowen.scope")
        self.token: str | None = request.scope.get("rowen.token")
        """The name of the caller's token; None where everybody on this machine is let in."""
        self.as_json = False
        given = request.cookies.get(sessions.COOKIE, "")
        self.session = given if 0 < len(given) <= sessions.MAX_ID else ""
        self.fresh = not self.session
        if self.fresh:
            self.session = sessions.new_id()

    @property
    def form_key(self) -> str:
        return sessions.form_key(self.session)

    @property
    def is_open(self) -> bool:
        """Is everybody on this machine let in without a token?"""
        return self.held is not None and self.token is None

    @cached_property
    def path(self) -> str:
        path: str = self.request.scope["path"]
        return path.removesuffix(".json") or "/"

    def may(self, wanted: str) -> bool:
        return self.held is not None and self.held.allows(Scope(wanted))

    def need(self, wanted: Scope) -> None:
        if not self.may(wanted):
            raise Refused(
                status=403,
                detail=f"this needs a token with scope `{wanted}`; yours has `{self.held or 'none'}`",
                hint=f"make one with `rowen token create NAME --scope {wanted}`, and sign in with it",
            )

    @property
    def is_own_link(self) -> bool:
        """Was it followed from a page of ours, or typed? A page of another site must not make us ask
        servers.
        """
        return self.request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    @property
    def is_typing(self) -> bool:
        """Does our script ask, for the next key? A browser that shows a page accepts more than HTML."""
        return self.asked("typing") == "1" and self.request.headers.get("accept") == "text/html"

    # What the address says

    def asked(self, name: str) -> str:
        return self.request.query_params.get(name, "").strip()

    def number(self, name: str, default: int = 1) -> int:
        said = self.asked(name)
        return min(int(said), MAX_PAGE) if said.isascii() and said.isdigit() and len(said) < 10 else default

    def part(self, name: str) -> str:
        return str(self.request.path_params[name])

    def part_number(self, name: str) -> int:
        return int(self.request.path_params[name])

    def address(self, path: str | None = None, /, **changed: object) -> str:
        """This address with other values in its query; None and empty ones leave it."""
        query = {} if path is not None else dict(self.request.query_params)
        query = {name: str(value) for name, value in {**query, **changed}.items() if value not in (None, "")}
        if "done" not in changed:
            query.pop("done", None)
        where = path if path is not None else self.path
        return f"{where}?{urlencode(query)}" if query else where

    async def source(self) -> Source:
        """The source that the address names."""
        name = self.part("name")
        try:
            return await find(self.ports.store, name)
        except NotFound:
            if not self.as_json:
                raise
        # A name may end in `.json` itself.
        self.as_json = False
        return await find(self.ports.store, f"{name}.json")

    # What a form says

    async def form(self) -> dict[str, str]:
        """The fields of a form of ours; anything else is refused."""
        headers = self.request.headers
        origin = headers.get("origin")
        if origin is None or urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
            raise Refused(status=403, detail="asked for by a page of another origin")
        fields = await self.fields()
        if self.fresh or not _same(fields.get("key", ""), self.form_key):
            raise Refused(
                status=403,
                detail="this form is older than your session",
                hint="go back, reload the page, and send it again; nothing was changed",
            )
        return fields

    async def fields(self) -> dict[str, str]:
        body = await self.request.body()
        self.pairs = parse_qsl(body.decode("utf-8", "replace"), max_num_fields=2000)
        return {name: value.strip() for name, value in self.pairs}

    @property
    def host(self) -> str:
        host: str = self.request.headers.get("host", "").lower()
        name, _, port = host.rpartition(":")
        return name if name and port.isdigit() and not host.endswith("]") else host

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
