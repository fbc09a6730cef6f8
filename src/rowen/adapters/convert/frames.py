"""What parent and child say to each other: length-prefixed frames, JSON for facts, raw bytes for bodies.

    child:   READY
    parent:  u32 header length, u32 body length, header {"url", "content_type"}, body
    child:   u32 length, {"title", "text", ...} or {"error"}

JSON and not pickle: a child that a hostile page has taken over must not be able to run code in the parent.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

import orjson

from rowen.core.document import Converted
from rowen.errors import Unparseable

READY = b"rowen\n"
REQUEST = struct.Struct(">II")
ANSWER = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    content_type: str
    body: bytes


def request(body: bytes, *, content_type: str, url: str) -> bytes:
    header = orjson.dumps({"url": url, "content_type": content_type})
    return b"".join((REQUEST.pack(len(header), len(body)), header, body))


def read_request(stream: BinaryIO) -> Request | None:
    """The next request, or None when there will be none."""
    prefix = stream.read(REQUEST.size)
    if len(prefix) < REQUEST.size:
        return None
    header_length, body_length = REQUEST.unpack(prefix)
    header = orjson.loads(stream.read(header_length))
    return Request(header["url"], header["content_type"], stream.read(body_length))


def answer(converted: Converted) -> bytes:
    return _framed(
        {
            "title": converted.title,
            "text": converted.text,
            "links": converted.links,
            "canonical": converted.canonical,
            "metadata": converted.metadata,
        }
    )


def refusal(message: str) -> bytes:
    return _framed({"error": message})


def _framed(facts: dict[str, object]) -> bytes:
    payload = orjson.dumps(facts)
    return ANSWER.pack(len(payload)) + payload


def read_answer(payload: bytes) -> Converted:
    """Raises `Unparseable` for a refusal and for anything that is no answer."""
    try:
        facts = orjson.loads(payload)
        if "error" in facts:
            raise Unparseable(facts["error"])
        return Converted(
            title=facts["title"],
            text=facts["text"],
            links=tuple(facts["links"]),
            canonical=facts["canonical"],
            metadata=facts["metadata"],
        )
    except (ValueError, KeyError, TypeError) as exc:
        raise Unparseable(f"the converter's answer makes no sense: {exc}") from exc
