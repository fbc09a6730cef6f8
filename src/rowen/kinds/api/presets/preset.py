"""What a preset is: an API described as data, so that its kind needs no code of its own.

Most of it are settings of kind `rest`, the same that a user could give. In a setting, `{site}` becomes the
name a company has at a job board and `{host}` the host of the location.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from rowen.core.params import Param
from rowen.core.web import json_body, urls, xml_body
from rowen.errors import BadLocation, Unparseable
from rowen.kinds.api.tables.columns import Table
from rowen.records import dataclass

_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Decode(Protocol):
    """A response's body as data; `url` is for messages. Raises `Unparseable`."""

    def __call__(self, body: bytes, *, content_type: str, url: str) -> Any: ...


GraphIn = Callable[[bytes, str], str]
"""The syntax of RDF that a body of some content type is in; empty for one that `decode` reads."""


def read_json(body: bytes, *, content_type: str, url: str) -> Any:
    try:
        return json_body.read(body)
    except ValueError as exc:
        what = "a web page" if body.lstrip()[:1] == b"<" else "no JSON"
        raise Unparseable(f"`{url}`: answers with {what}", url=url) from exc


def read_xml(body: bytes, *, content_type: str, url: str) -> Any:
    try:
        return xml_body.read(body)
    except ValueError as exc:
        page = body.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))
        what = "a web page" if page else f"no XML that can be read: {exc}"
        raise Unparseable(f"`{url}`: answers with {what}", url=url) from exc


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """The items are datasets of an open-data portal; expressions that the settings of `rest` do not have."""

    lists: tuple[str, ...] = ("tags", "themes")
    """The names in `meta` that have many values; of the others the first value is taken."""
    name: str = ""
    landing: str = ""
    """A dataset's page below the location, for datasets without `url`; with `{id}` or `{name}`."""
    resources: str = ""
    """Finds a list of each resource: name, address, format, description and the schema of its columns."""
    columns: str = ""
    """Finds the columns of a dataset, in one of the ways that `datasets.columns` reads."""
    table: Callable[[Any], Table | None] | None = None
    """The table of a dataset whose columns no list has: they are asked for, with a request each."""
    check: str = ""
    """The path of one dataset, with `{id}` and `{host}`: asked before a dataset counts as gone."""
    check_lists: bool = False
    """That path answers with a page of the list, empty when the dataset is gone; else with a 404."""
    area: str = ""
    """Finds the area that a dataset is about, where `meta.spatial` does not have it."""
    choices: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Settings that choose datasets and that the API can filter by: the parameter, and its value."""
    offset_end: int | None = None
    """The portal answers nothing from this offset on."""
    sliced: bool = False
    """Of a longer list it answers stretches of time, by `{since}` and `{until}` in the query."""
    whole_pages: bool = False
    """A page with fewer rows than were asked for is the last: a number that is too large is refused."""
    most: int | None = None
    """A list of more is not that of one portal."""
    elsewhere: str = ""
    """Where a list that is too long can be had whole, for a hint."""
    first_cursor: str | None = None
    """What stands for the cursor in the question for the first page, where that cannot go without."""
    deleted: str = ""
    """Finds something in an item that the portal itself calls deleted."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """The query for what changed after `{since}`, sent between two complete lists."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    kind: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """As `--set` would give them for kind `rest`."""
    offered: tuple[str, ...] = ()
    """The settings of `rest` that a source of this kind may change."""
    most: Mapping[str, int] = field(default_factory=dict)
    """The largest value the API takes, by setting."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Hosts that belong to a job board, each with the address of the API behind it."""
    home: str = ""
    """The address of the API when the location is a bare name."""
    document: str = ""
    """What is asked for when the location names no document."""
    catalogue: Catalogue | None = None
    own: tuple[Param, ...] = ()
    """Settings that only this kind has: `{NAME}` in a setting becomes the value, one without is not sent."""
    variants: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """Settings that a value of an own setting changes, by its name and the value."""
    accept: str = "application/json"
    decode: Decode = read_json
    graph_in: GraphIn | None = None
    """For an API that may answer with a graph."""


def claims(preset: Preset, location: str) -> bool:
    """Other APIs look like any other site from outside; a job board is known by its host."""
    return urls.host_of(_with_scheme(location)) in preset.hosts


def api_behind(preset: Preset, location: str) -> str:
    """The address of the API for a page of a job board, the API itself or a company's bare name.

    An address on another host is kept. Raises `BadLocation`.
    """
    if not preset.hosts:
        return location
    text = location.strip()
    url = _with_scheme(text)
    home = preset.hosts.get(urls.host_of(url))
    if "{site}" not in preset.home:
        return preset.home if text == preset.kind else home or url.rstrip("/")
    if _SITE.fullmatch(text) and text not in preset.hosts:
        return preset.home.replace("{site}", text)
    site = _site_in(url)
    if not _SITE.fullmatch(site):
        raise BadLocation(
            f"location `{location}`: names no company at `{preset.kind}`",
            hint=f"give a company's page there, as in `https://{next(iter(preset.hosts))}/acme`, or its name",
            location=location,
        )
    return home.replace("{site}", site) if home else url.rstrip("/")


def completed(preset: Preset, address: str) -> str:
    """A portal's own address: without the path of its API, or with the document a catalogue is in."""
    bare = address.partition("?")[0]
    if preset.document:
        last = bare.rpartition("/")[2]
        named = "." in last or "?" in address or "catalog" in last or "dcat" in last
        return address if named else address.rstrip("/") + preset.document
    if preset.catalogue is not None:
        path = preset.settings.get("path")
        return bare.partition(path)[0].rstrip("/") if path else bare.rstrip("/")
    return address


def settings_for(preset: Preset, home: str, params: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The preset's settings for one address of its API, and for its own settings as a source has them."""
    own = {spec.name: str((params or {}).get(spec.name, spec.default)) for spec in preset.own}
    chosen = dict(preset.settings)
    for one, settings in preset.variants.items():
        chosen |= settings if one in own.items() else {}
    for name, value in own.items():
        place = f"{{{name}}}"
        chosen = {
            key: text.replace(place, value) for key, text in chosen.items() if value or place not in text
        }
    site = home.partition("?")[0].rstrip("/").rpartition("/")[2]
    shown = site if _SITE.fullmatch(site) else ""
    host = urls.host_of(home)
    return {name: text.replace("{site}", shown).replace("{host}", host) for name, text in chosen.items()}


def _with_scheme(location: str) -> str:
    return location if "://" in location else f"https://{location}"


def _site_in(url: str) -> str:
    parts = urlsplit(urls.normalise(url) or "")
    words = [word for word in parts.path.split("/") if word]
    for before in ("boards", "postings"):
        if before in words[:-1]:
            return words[words.index(before) + 1]
    named = parse_qs(parts.query).get("for", [""])[0]
    return named or (words[0] if words else "")
