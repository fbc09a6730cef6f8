"""Answers in OAI-PMH 2.0: records, the token for the next ones, and errors, which come with status 200.

A record stays in the shape of `xml_body`, with its header. An archive that has nothing answers with an error
too, which here is an empty list. Pure.
"""

from __future__ import annotations

from typing import Any

from rowen.errors import Expired, Unfetchable, Unparseable
from rowen.kinds.api.presets.preset import read_xml

_NOTHING = frozenset(("noRecordsMatch", "idDoesNotExist"))
_EXPIRED = "badResumptionToken"
_LISTS = ("ListRecords", "GetRecord")


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`records`, `token`, `total`, and `identify` of an answer to Identify. Raises what the answer means."""
    answer = read_xml(body, content_type=content_type, url=url)
    root = answer.get("OAI-PMH")
    if not isinstance(root, dict):
        raise Unparseable(f"`{url}`: XML, but no answer in OAI-PMH", url=url)
    for error in root.get("error", ()):
        code, said = _code_and_text(error)
        if code == _EXPIRED:
            raise Expired(f"`{url}`: the archive does not know its resumption token any more", url=url)
        if code not in _NOTHING:
            # As a status: an archive that refuses a question says so with 200.
            raise Unfetchable(f"`{url}`: `{code}` from the archive: {said}", url=url, status=400)
    found: dict[str, Any] = {"records": [], "identify": next(iter(root.get("Identify", ())), None)}
    for part in (one for name in _LISTS for one in root.get(name, ()) if isinstance(one, dict)):
        found["records"] += part.get("record", [])
        for token in part.get("resumptionToken", ()):
            found |= _token(token)
    return found


def _code_and_text(error: Any) -> tuple[str, str]:
    if isinstance(error, dict):
        return str(error.get("@code", "")), str(error.get("@value", ""))[:200]
    return "", str(error)[:200]


def _token(token: Any) -> dict[str, Any]:
    """An empty token is the end of a list that came in pieces."""
    if isinstance(token, dict):
        return {"token": token.get("@value"), "total": token.get("@completeListSize")}
    return {"token": token or None}
