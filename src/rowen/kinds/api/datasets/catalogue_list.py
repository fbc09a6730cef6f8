"""A list of catalogues in DCAT, and each of them: the list names the pages, the catalogues have the datasets.

The list is JSON (addresses, or objects with one) or text with an address a line. A dataset says which
catalogue it is of: an identifier is only unique there. Pure.
"""

from __future__ import annotations

from typing import Any

from rowen.core.web import json_body
from rowen.kinds.api.datasets import dcat

_ADDRESS = ("data_json", "url", "href", "downloadURL", "accessURL")
_LISTS = ("catalogs", "catalogues", "portals", "results")


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`next` of a list; `dataset`, each with its `catalogue`, and `next` of a catalogue."""
    addresses = _addresses(body)
    if addresses:
        return {"dataset": [], "next": addresses}
    found = dcat.read(body, content_type=content_type, url=url)
    datasets = [{**one, "catalogue": url} if isinstance(one, dict) else one for one in found["dataset"]]
    return {"dataset": datasets, "next": [found["next"]] if found.get("next") else []}


def _addresses(body: bytes) -> list[str]:
    start = body.removeprefix(json_body.BOM).lstrip()
    if start[:1] not in (b"[", b"{"):
        lines = [line.strip() for line in start.decode("utf-8", "replace").splitlines()]
        named = [line for line in lines if line and not line.startswith("#")]
        return named if named and all(line.startswith(("http://", "https://")) for line in named) else []
    try:
        answer = json_body.read(body)
    except ValueError:
        return []
    if isinstance(answer, dict):
        answer = next((answer[name] for name in _LISTS if isinstance(answer.get(name), list)), None)
    if not isinstance(answer, list):
        return []
    found = [_address(one) for one in answer]
    return [one for one in found if one] if all(found) else []


def _address(value: Any) -> str:
    if isinstance(value, dict):
        # A dataset of the first version of `data.json` has an address, too.
        if "identifier" in value:
            return ""
        value = next((value[name] for name in _ADDRESS if value.get(name)), "")
    return value if isinstance(value, str) and value.startswith(("http://", "https://", "/", "./")) else ""
