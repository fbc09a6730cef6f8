"""Registers of portals that others keep: lists of CKAN instances (JSON), tables such as re3data's (CSV).

Each names portals in its own words. An entry whose family is not said has no type: it is found out by asking.
Pure.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rowen.core.web import json_body, urls
from rowen.errors import ConfigError
from rowen.managing import guess
from rowen.managing.add_many.rules import Entry, LeftOut

_URL = ("urlapi", "apiurl", "api", "repositoryurl", "url", "link", "href", "homepage", "website", "domain")
_NAME = ("id", "name", "repositoryname", "title", "label")
_TYPE = ("apitype", "software", "softwarename", "platform", "kind", "type", "generator")
_LISTS = ("portals", "instances", "results", "catalogs", "repositories", "items")
_FAMILIES = {
    "ckan": "ckan", "dkan": "dkan", "udata": "udata", "socrata": "socrata", "tylerdata": "socrata",
    "opendatasoft": "opendatasoft", "arcgishub": "arcgis", "arcgis": "arcgis", "dataverse": "dataverse",
    "inveniordm": "invenio", "invenio": "invenio", "zenodo": "invenio", "oaipmh": "oai_pmh", "oai": "oai_pmh",
    "csw": "csw", "ogccsw": "csw", "ogcapirecords": "ogc_records", "stac": "stac", "stacapi": "stac",
    "sparql": "sparql", "sdmx": "sdmx", "dcat": "dcat", "datajson": "dcat", "dcatus": "dcat",
}  # fmt: skip
_OF_CKAN = frozenset(("urlapi", "facets"))
"""Names in an entry of CKAN's own list of instances, which does not say that they are CKAN's."""
_MANY = re.compile(r"\s*[;|]\s*")


def is_register(text: str) -> bool:
    """Is it one of these, and not the TOML that people write?"""
    start = text.lstrip("\ufeff \t\r\n")
    if start[:1] == "{" or re.match(r"\[\s*[{\"\]]", start):
        return True
    first = start.partition("\n")[0]
    header = {_key(one) for one in first.split(_delimiter(start))}
    return len(header) > 1 and bool(header & set(_URL)) and not first.startswith("#") and "=" not in first


class Register(NamedTuple):
    entries: list[Entry]
    """Its portals, each once, in its order."""
    left_out: list[LeftOut]
    """Its other rows."""


def parse(text: str, *, file: str) -> list[Entry]:
    """The portals of a register, each once, in its order. Raises `ConfigError` where it has none."""
    return read(text, file=file).entries


def read(text: str, *, file: str) -> Register:
    """The same, with the rows that are no portals and why."""
    text = text.lstrip("\ufeff \t\r\n")
    rows = _of_json(text, file) if text[:1] in ("{", "[") else _of_csv(text)
    taken: dict[str, Entry] = {}
    addresses: dict[tuple[str, str], str] = {}
    left_out: list[LeftOut] = []
    for number, row in enumerate(rows, 1):
        named = {_key(str(name)): value for name, value in row.items()} if isinstance(row, dict) else None
        if named is not None and not any(named.values()):
            continue
        said = next(iter(_texts(named, _NAME)), "") if named else ""
        entry = _entry(named, taken) if named else None
        if entry is None:
            left_out.append(LeftOut(row=number, name=said, why="no http or https address"))
        elif first := addresses.get((entry.url, entry.type)):
            left_out.append(LeftOut(row=number, name=said, why=f"the address of `{first}` again"))
        else:
            addresses[entry.url, entry.type] = entry.name
            taken[entry.name] = entry
    if not taken:
        raise ConfigError(
            f"file `{file}`: no portals",
            hint="expected TOML with `[[portals]]`, or JSON or CSV in which portals have a `url`",
        )
    return Register(list(taken.values()), left_out)


def _of_json(text: str, file: str) -> list[Any]:
    try:
        answer = json_body.read(text.encode())
    except ValueError as exc:
        raise ConfigError(f"file `{file}`: broken JSON") from exc
    if isinstance(answer, dict):
        answer = next((answer[name] for name in _LISTS if isinstance(answer.get(name), list)), [])
    return [{"url": one} if isinstance(one, str) else one for one in answer]


def _of_csv(text: str) -> Sequence[Mapping[str, Any]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=_delimiter(text)))


def _delimiter(text: str) -> str:
    header = text.partition("\n")[0]
    return max(",;\t", key=header.count)


def _entry(row: Mapping[str, Any], taken: Mapping[str, Entry]) -> Entry | None:
    """None for a row without an address."""
    types = [_FAMILIES.get(_key(one), "") for one in _texts(row, _TYPE)]
    kind = next(filter(None, types), "")
    if not kind and _OF_CKAN & row.keys():
        kind = "ckan"
    domain = "domain" in row and not any(row.get(name) for name in _URL if name != "domain")
    if not kind and domain:
        # Socrata's list of its domains has nothing else.
        kind = "socrata"
    # Where there are several interfaces, addresses and types come in the same order.
    found = _texts(row, _URL)
    place = types.index(kind) if kind in types else 0
    address = found[place] if place < len(found) else found[0] if found else ""
    url = urls.normalise(address if "://" in address else f"https://{address}") if address else None
    if url is None or not urls.host_of(url):
        return None
    # Of many portals, the whole host tells one from another.
    named = next(iter(_texts(row, _NAME)), "") or urls.host_of(url)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", named).strip("-._")[: guess.MAX_NAME_CHARS].strip("-._")
    return Entry(name=guess.unused(name or "portal", taken), url=url, type=kind)


def _texts(row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """What the first of these names that says anything says, in its parts."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value.strip():
            return [one for one in _MANY.split(value.strip()) if one]
    return []


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", str(text).lower())
