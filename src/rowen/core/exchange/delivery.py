"""A change as a sink sends it: its JSON, which changes make one delivery, and the signature.

A delivery holds changes of one activation and has a name that follows from what is in it. The same
changes, sent again after a crash, have the same name, so that the receiver recognises them. Nothing is sent
from here.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from rowen.core import hashing
from rowen.core.feed import Cursor, FeedItem
from rowen.core.web import urls

LARGEST = 100
"""No delivery holds more changes."""


def batches(page: Sequence[FeedItem], *, size: int) -> list[tuple[FeedItem, ...]]:
    """Cut a page of the feed, of at most `size` items, into deliveries.

    invariant: from the same cursor on, the first delivery is the same, also after later activations.
    So none reaches over the end of an activation, and one that the end of the page may have cut is only taken
    when it stands alone: then `size` has cut it, and will again.
    """
    groups = [tuple(group) for _, group in groupby(page, key=lambda item: item.cursor.activation)]
    return groups[:-1] if len(page) >= size and len(groups) > 1 else groups


def once_each(items: Sequence[FeedItem]) -> list[FeedItem]:
    """Each reference at its last mention: readers see one state of it, however often it was touched."""
    last = {(item.source, item.reference): item for item in items}
    return [item for item in items if last[item.source, item.reference] is item]


def named(label: str) -> tuple[str, str | None]:
    """The name and the version of a source's label."""
    name, _, version = label.partition("@")
    return name, version or None


def change(item: FeedItem) -> dict[str, Any]:
    """A change as JSON, without the text of the document."""
    name, version = named(item.source)
    document = item.document
    return {
        "source": name,
        **({"version": version} if version else {}),
        "kind": item.kind,
        "change": item.change,
        "reference": item.reference,
        "url": document.url if document else address(item.reference),
        "title": document.title if document else None,
        "generation": item.generation,
        "at": item.at.isoformat(),
        **({"fields": list(item.fields)} if item.fields else {}),
        "metadata": dict(document.metadata) if document else {},
    }


def address(reference: str) -> str | None:
    """The address of a removed document, when its reference is one."""
    return reference if urls.origin_of(reference) else None


def delivery_id(sink: str, first: Cursor, last: Cursor, *, at: datetime) -> str:
    """The same for the same changes to the same sink.

    Cursors start anew in a new store; the time of the activation tells such deliveries apart.
    """
    return hashing.of_text(f"{sink}\n{first}\n{last}\n{at.isoformat()}").hex()[:32]


def body(*, sink: str, delivery: str, cursor: Cursor, changes: Sequence[Mapping[str, Any]]) -> bytes:
    content = {"sink": sink, "delivery": delivery, "cursor": str(cursor), "changes": list(changes)}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair has no UTF-8; as an escape it is JSON.
    return text.encode("utf-8", "backslashreplace")


def signature(secret: str, timestamp: str, content: bytes) -> str:
    """For `X-Rowen-Signature`: over the time and the body, so that neither can be exchanged."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + content, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"
