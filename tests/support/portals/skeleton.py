"""Portals of many families on one server, each below a path of its own, with faults that can be put in.

A family says what a request is answered with; the skeleton keeps its records and plays the faults that all
families have in common.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, quoteattr

from aiohttp import web

from tests.support.site import Site, cut_connection

BEGAN = datetime(2023, 1, 1, tzinfo=UTC)
HTML_PAGE = "<!DOCTYPE html><html><body><h1>Sorry, an error has occurred</h1></body></html>"
HOME_PAGE = (
    '<!DOCTYPE html><html><head><title>Data</title><meta name="generator" content="{}"></head>'
    "<body><main><h1>Open data</h1><p>Look for datasets.</p></main></body></html>"
)


@dataclass
class Record:
    title: str
    text: str = ""
    changed: datetime = BEGAN
    deleted: bool = False


@dataclass(frozen=True)
class Reply:
    body: str
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value), status)


def as_xml(text: str, status: int = 200) -> Reply:
    return Reply('<?xml version="1.0" encoding="UTF-8"?>\n' + text, status, "text/xml; charset=utf-8")


def tag(element: str, /, *inside: str, **attributes: str) -> str:
    """An element; text inside it is escaped by `txt`."""
    written = "".join(
        f" {key.rstrip('_').replace('__', ':')}={quoteattr(value)}" for key, value in attributes.items()
    )
    return f"<{element}{written}>{''.join(inside)}</{element}>"


txt = escape


class Family(ABC):
    """One portal. `most` is how many rows it answers at once, whatever it is asked for."""

    kind: str
    most = 100
    generator = ""
    """What its home page says it is made with; a portal without a home page answers there as it does."""
    begins = 3
    """The request of a list behind which some datasets have come, and not all."""
    start = ""
    """What is added as the location of a source, below the portal's path."""

    def __init__(self, number: int = 0) -> None:
        self.records = {f"{self.kind}-{n:04}": self.new(n) for n in range(number)}
        self.announces = 0
        """By so many its totals are wrong."""
        self.fault = ""
        """`close`, `error`, `html`, `empty` or `cut`: what all requests are answered with."""
        self.fault_from = 1
        """The request that is the first to be answered so."""
        self.asked: list[dict[str, str]] = []

    def new(self, number: int) -> Record:
        return Record(f"Dataset {number}", f"Rows and columns of {self.kind} number {number}")

    @property
    def live(self) -> dict[str, Record]:
        return {name: one for name, one in sorted(self.records.items()) if not one.deleted}

    def total(self, rows: Mapping[str, Record] | None = None) -> int:
        return len(self.live if rows is None else rows) + self.announces

    @abstractmethod
    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        """`path` is below the portal's own; `base` is the portal's address."""

    def reply(self, path: str, params: dict[str, str], base: str) -> Reply | None:
        """None cuts the connection."""
        self.asked.append({"": path, **params})
        faulty = self.fault if len(self.asked) >= self.fault_from else ""
        if faulty == "close":
            return None
        if faulty == "error":
            return Reply("failed on purpose", 500, "text/plain")
        if faulty == "html":
            return Reply(HTML_PAGE, 200, "text/html")
        if faulty == "empty":
            return Reply("", 200)
        if self.generator and path in ("", "/"):
            return Reply(HOME_PAGE.format(self.generator), 200, "text/html")
        reply = self.answer(path, params, base)
        if faulty == "cut":
            return Reply(reply.body[: len(reply.body) // 2], reply.status, reply.content_type)
        return reply


class Portals(Site):
    """`families` by the first part of the path; everything else is a page of the site."""

    def __init__(self, **families: Family) -> None:
        super().__init__()
        self.families = dict(families)

    def at(self, name: str) -> str:
        return f"{self.url}/{name}{self.families[name].start}"

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        parts = urlsplit(request.raw_path)
        name, _, rest = parts.path.removeprefix("/").partition("/")
        family = self.families.get(name)
        if family is None:
            return await super()._answer(request)
        params = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        reply = family.reply(unquote(f"/{rest}" if rest else ""), params, f"{self.url}/{name}")
        self._log(request, reply.status if reply else 0)
        if reply is None:
            return cut_connection(request)
        headers = {**reply.headers, "Content-Type": reply.content_type}
        return web.Response(body=reply.body.encode(), status=reply.status, headers=headers)
