"""Incoming web hooks: who signed a delivery, and which references it names.

Pure: bytes and headers in, decisions out. GitHub signs the body; our own scheme, the one our sinks send with,
signs the time as well, so that an old delivery cannot be sent again. Comparing takes the same time for
any wrong signature.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rowen.core import hashing
from rowen.core.exchange import delivery
from rowen.core.sync_request import MAX_ONLY
from rowen.errors import UserError
from rowen.records import dataclass

MAX_SKEW_S = 300.0
"""How far the time of a signed delivery may be from ours."""
SAME_BODY_S = 10.0
"""Deliveries without a name and a time are the same when the same body comes within this time."""
MAX_NAME_CHARS = 200
MAX_REFERENCE_CHARS = 2_000

_HALF = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request to a web hook."""

    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def event(self) -> str | None:
        """What GitHub says this is about; None when it is not GitHub's."""
        return self.headers.get("x-github-event")

    def is_signed(self, secret: str | None, *, now: datetime) -> bool:
        """By GitHub's scheme or by ours. Without a secret nothing is, and finding that out takes as long."""
        key = secret or ""
        given = self.headers.get("x-rowen-signature")
        if given is None:
            given = self.headers.get("x-hub-signature-256", "")
            expected, fresh = hub_signature(key, self.body), True
        else:
            expected = delivery.signature(key, self._timestamp, self.body)
            fresh = self._is_fresh(now)
        # As bytes: text with other letters than ASCII would be refused with an exception.
        same = hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
        return same and fresh and bool(secret)

    def name(self, *, now: datetime) -> str:
        """What makes this delivery the same one when it comes again."""
        body = hashing.of_bytes(self.body).hex()
        if "x-rowen-signature" in self.headers:
            # What was signed, and no header beside it: a copy under another name is still the same delivery.
            return f"{self._timestamp}.{body}"
        given = self.headers.get("x-github-delivery")
        if given:
            return given[:MAX_NAME_CHARS]
        return f"{int(now.timestamp() // SAME_BODY_S)}.{body}"

    def json(self) -> Any:
        """Raises `UserError`."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as exc:
            raise UserError("web hook: the body is not JSON") from exc

    @property
    def _timestamp(self) -> str:
        return self.headers.get("x-rowen-timestamp", "")

    def _is_fresh(self, now: datetime) -> bool:
        text = self._timestamp
        if not (text.isascii() and text.isdigit() and len(text) <= 12):
            return False
        return abs(now.timestamp() - int(text)) <= MAX_SKEW_S


def hub_signature(secret: str, body: bytes) -> str:
    """What GitHub sends as `X-Hub-Signature-256`."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def named_references(payload: Any) -> tuple[str, ...] | None:
    """What the body `{"urls": [...]}` of a delivery of our own scheme names; None for everything."""
    if payload is None or payload == {}:
        return None
    named = payload.get("urls") if isinstance(payload, dict) else None
    if not isinstance(named, list) or len(payload) > 1:
        raise UserError('web hook: expected a body such as `{"urls": ["https://..."]}`, or none')
    for one in named:
        if not isinstance(one, str) or not 0 < len(one) <= MAX_REFERENCE_CHARS:
            raise UserError(f"web hook: `urls` holds something that is no text of 1 to {MAX_REFERENCE_CHARS}")
        if _HALF.search(one):
            raise UserError("web hook: `urls` holds half a character, which no store takes")
    distinct = tuple(dict.fromkeys(named))
    return distinct if len(distinct) <= MAX_ONLY else None
