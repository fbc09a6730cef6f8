"""Structure messages of SDMX: the dataflows of a service, from JSON and from XML, as one shape. Pure."""

from __future__ import annotations

from typing import Any

from rowen.core.web.json_body import dicts
from rowen.errors import Unparseable
from rowen.kinds.api.presets.preset import read_json, read_xml


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`dataflows`, each with `id`, `agencyID`, `version` and its texts by language."""
    if body.lstrip()[:1] == b"<":
        return {"dataflows": [_plain(one) for one in _of_xml(body, content_type, url)]}
    answer = read_json(body, content_type=content_type, url=url)
    data = answer.get("data", answer) if isinstance(answer, dict) else None
    found = data.get("dataflows") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise Unparseable(f"`{url}`: JSON, but no dataflows of SDMX", url=url)
    return {"dataflows": found}


def _of_xml(body: bytes, content_type: str, url: str) -> list[Any]:
    answer = read_xml(body, content_type=content_type, url=url)
    message = answer.get("Structure")
    if not isinstance(message, dict):
        raise Unparseable(f"`{url}`: XML, but no structure message of SDMX", url=url)
    structures = dicts(message.get("Structures"))
    return [
        flow
        for structure in structures
        for flows in dicts(structure.get("Dataflows"))
        for flow in dicts(flows.get("Dataflow"))
    ]


def _plain(flow: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {key.removeprefix("@"): value for key, value in flow.items()}
    for name, many in (("Name", "names"), ("Description", "descriptions")):
        texts = plain.pop(name, [])
        plain[many] = {
            str(one.get("@language", "en")): one.get("@value", "") if isinstance(one, dict) else one
            for one in (text if isinstance(text, dict) else {"@value": text} for text in texts)
        }
    return plain
