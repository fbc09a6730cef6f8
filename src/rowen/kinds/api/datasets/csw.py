"""Answers of OGC's Catalogue Service, 2.0.2 and 3.0: records and how many there are.

Exceptions come with status 200 as often as not. One that is about a position behind the last record is an
empty page. Pure.
"""

from __future__ import annotations

from typing import Any

from rowen.errors import Unfetchable, Unparseable
from rowen.kinds.api.presets.preset import read_xml

_RECORDS = ("Record", "SummaryRecord", "BriefRecord")
_ABOUT = ("RequestId", "SearchStatus")
_ROOTS = ("GetRecordsResponse", "GetRecordByIdResponse", "Capabilities", *_RECORDS)


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`records`, `total`, and `version` of an answer to GetCapabilities."""
    answer = read_xml(body, content_type=content_type, url=url)
    name, root = next(iter(answer.items()))
    if name in ("ExceptionReport", "ServiceExceptionReport"):
        said = " ".join(_texts(root))
        if "startposition" in said.lower():
            return {"records": [], "total": None}
        raise Unfetchable(f"`{url}`: an exception from the catalogue: {said[:200]}", url=url, status=400)
    if name not in _ROOTS:
        raise Unparseable(f"`{url}`: XML, but no answer of a catalogue service", url=url)
    if name in _RECORDS:
        # Version 3 answers so for one record.
        return {"records": [root], "total": None}
    root = root if isinstance(root, dict) else {}
    if name == "Capabilities":
        return {"records": [], "total": None, "version": root.get("@version")}
    results = next(iter(root.get("SearchResults", ())), root)
    results = results if isinstance(results, dict) else {}
    records = [one for kind in _RECORDS for one in results.get(kind, ())]
    others = [one for one in results if not one.startswith("@") and one not in (*_RECORDS, *_ABOUT)]
    if others and not records:
        # Some services answer in the schema they have, whichever was asked for.
        raise Unparseable(
            f"`{url}`: answers with records of `{others[0]}`, though asked for Dublin Core (`csw:Record`)",
            hint="records of other schemas are not read: look for another interface of this catalogue",
            url=url,
        )
    return {
        "records": records,
        "total": results.get("@numberOfRecordsMatched"),
    }


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [str(value)]
