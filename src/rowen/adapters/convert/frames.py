"""What parent and child say to each other about a page: JSON for facts, raw bytes for bodies.

    parent:  u32 header length, u32 body length, header {"url", "content_type", "plugin", "syntax"}, body
    child:   {"title", "text", ...} or {"error", "hint"}

JSON and not pickle: a child that a hostile page has taken over must not be able to run code in the parent.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import orjson

from rowen.adapters.convert.formats import PluginFormat
from rowen.core.document import Converted
from rowen.records import dataclass

REQUEST = struct.Struct(">II")


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    content_type: str
    body: bytes
    plugin: PluginFormat | None
    """What reads the body; None for our own converters."""
    syntax: str = ""
    """That of a graph, which becomes JSON-LD; empty for a document."""


@dataclass(frozen=True, slots=True)
class Refusal:
    message: str
    hint: str | None


def request(
    body: bytes, *, content_type: str, url: str, plugin: PluginFormat | None = None, syntax: str = ""
) -> bytes:
    facts = {"url": url, "content_type": content_type, "plugin": plugin and list(plugin), "syntax": syntax}
    header = orjson.dumps(facts)
    return b"".join((REQUEST.pack(len(header), len(body)), header, body))


def read_request(stream: BinaryIO) -> Request | None:
    """The next request, or None when there will be none."""
    prefix = stream.read(REQUEST.size)
    if len(prefix) < REQUEST.size:
        return None
    header_length, body_length = REQUEST.unpack(prefix)
    header = orjson.loads(stream.read(header_length))
    plugin = PluginFormat(*header["plugin"]) if header["plugin"] else None
    body = stream.read(body_length)
    return Request(header["url"], header["content_type"], body, plugin, header["syntax"])


def answer(converted: Converted) -> bytes:
    return orjson.dumps(converted)


def refusal(message: str, hint: str | None = None) -> bytes:
    return orjson.dumps({"error": message, "hint": hint})


def read_answer(payload: bytes) -> Converted | Refusal:
    """What the body became, or why it was refused. Raises `ValueError` for anything else."""
    facts = orjson.loads(payload)
    try:
        if "error" in facts:
            hint = facts.get("hint")
            return Refusal(str(facts["error"]), None if hint is None else str(hint))
        return Converted(**{**facts, "links": tuple(facts["links"])})
    except (KeyError, TypeError) as exc:
        raise ValueError("no answer") from exc
