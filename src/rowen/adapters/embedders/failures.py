"""What went wrong with a provider, as an error of Rowen's.

One error for all, `EmbedderUnavailable`, with its `kind` and `status` among the facts: the breaker and the
callers decide by those. Nothing is retried here. No message holds a key, and what a provider writes when it
refuses one is not repeated at all: it may quote it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

import orjson

from rowen.adapters.embedders.spec import Resolved
from rowen.core.safety.secrets import SHORTEST
from rowen.core.web.retry_after import retry_after_s
from rowen.errors import EmbedderUnavailable

MAX_WAIT_S = 7 * 86_400.0
"""No provider means more; a wrong number in a header must not become a date out of range."""

_SAID_CHARS = 200
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}

# "rejected" may be about one text: a caller finds out with a harmless text, then looks for the bad one. What
# is plainly about the key, the model or the request is wrong for every text, and needs a person.
_ABOUT_THE_REQUEST = re.compile(
    r"dimension|matryoshka|encoding.?format|base64|(?:task|input|embedding).?types?|api.?key"
    r"|unknown (?:field|name)|not found|does not exist|model name|model .*(?:not supported|unsupported)"
    r"|unsupported model|does not support embedding|location is not supported",
    re.IGNORECASE,
)
_FOR_NOW = frozenset((408, 409, 425, 429, 499))
"""Below 500, and worth another attempt all the same."""
_ABOUT_A_TEXT = frozenset((400, 413, 422, 498))
"""498 is how Cohere answers to a text that its filter blocks."""


def failure(
    resolved: Resolved,
    kind: str,
    fact: str,
    *,
    status: int | None = None,
    hint: str | None = None,
    retry_after: float | None = None,
) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"model `{resolved.name}`: {_without_key(fact, resolved)}",
        hint=hint,
        retry_after_s=retry_after,
        kind=kind,
        status=status,
        provider=resolved.provider,
        model=resolved.model,
        url=resolved.origin,
    )


def from_status(
    resolved: Resolved, status: int, headers: Mapping[str, str], body: bytes
) -> EmbedderUnavailable:
    """The error for an answer that is not a success. `headers` have names in lower case."""
    value = _json(body)
    said = redacted(_message(value), resolved)
    kind = _kind(status, value, said)
    quoted = f": {said}" if said and kind != "auth" else ""
    return failure(
        resolved,
        kind,
        f"{status} from `{resolved.origin}`{quoted}",
        status=status,
        hint=_hint(resolved, status, kind, value),
        retry_after=wait_s(headers, value) if kind in ("rate_limited", "server", "timeout") else None,
    )


def wait_s(headers: Mapping[str, str], value: Any) -> float | None:
    """How long the provider asks to be left alone: the most exact of its words, or None."""
    milliseconds = _duration(headers.get("retry-after-ms", ""), unit="ms")
    candidates = (milliseconds, _retry_after(headers), _retry_info(value), _reset(headers))
    found = next((wait for wait in candidates if wait is not None), None)
    return None if found is None else min(found, MAX_WAIT_S)


def redacted(text: str, resolved: Resolved) -> str:
    """A provider's words for a message: one short line, without the key."""
    line = "".join(c for c in text.strip().partition("\n")[0] if c.isprintable())
    # Before it is cut: half a key is still a part of it.
    line = _without_key(line, resolved)
    return line if len(line) <= _SAID_CHARS else line[:_SAID_CHARS].rstrip() + "…"


def _without_key(text: str, resolved: Resolved) -> str:
    """Also without its longer pieces, however they are spelt: providers show beginnings and ends."""
    key = resolved.api_key.reveal().strip() if resolved.api_key is not None else ""
    for spelt in {key, quote(key, safe=""), json.dumps(key)[1:-1]} - {""}:
        text = re.sub(re.escape(spelt), "***", text, flags=re.IGNORECASE)
        pieces = [spelt[at : at + SHORTEST] for at in range(len(spelt) - SHORTEST + 1)]
        seen = [False] * len(text)
        for piece in pieces:
            for found in re.finditer(f"(?={re.escape(piece)})", text, re.IGNORECASE):
                seen[found.start() : found.start() + SHORTEST] = [True] * SHORTEST
        text = "".join(
            "***" if hidden and not (at and seen[at - 1]) else "" if hidden else text[at]
            for at, hidden in enumerate(seen)
        )
    return text


def _kind(status: int, value: Any, said: str) -> str:
    if status == 429:
        return "rate_limited"
    # Gemini answers 400 to a key it does not know, and to a country it does not serve.
    if status in (401, 402, 403, 407) or _reasons(value) & {"API_KEY_INVALID", "FAILED_PRECONDITION"}:
        return "auth"
    if status == 408:
        return "timeout"
    if _ABOUT_THE_REQUEST.search(said) and status < 500 and status not in _FOR_NOW:
        return "settings"
    if status in _ABOUT_A_TEXT:
        return "rejected"
    # A server that cannot do it at all will not learn it.
    return "settings" if (status < 500 and status not in _FOR_NOW) or status == 501 else "server"


def _hint(resolved: Resolved, status: int, kind: str, value: Any) -> str | None:
    if kind == "auth":
        if status == 402:
            return "check the credit of the account"
        if not resolved.key_variable:
            return "name the variable that holds its key in `embedding.api_key_env`"
        return f"check the key in `{resolved.key_variable}`, in the environment of this command"
    if "insufficient_quota" in _reasons(value):
        return "check the plan and the credit of the account"
    if status == 404:
        pull = f"`ollama pull {resolved.model}`, or " if resolved.provider == "ollama" else ""
        return f"{pull}check `embedding.model` and `embedding.base_url`"
    if 300 <= status < 400:
        return "redirects are not followed: set `embedding.base_url` to where it leads"
    if kind == "settings":
        return "check the settings under `embedding`"
    return None


def _json(body: bytes) -> Any:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    # Google wraps the errors of some of its servers in a list.
    return value[0] if isinstance(value, list) and value else value


def _message(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    for name in ("error", "message", "detail"):
        found = value.get(name)
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str):
            return found
        if found:
            return str(found)
    return ""


def _details(value: Any) -> list[dict[str, Any]]:
    error = value.get("error") if isinstance(value, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []


def _reasons(value: Any) -> set[str]:
    error = value.get("error") if isinstance(value, dict) else None
    own = [error.get(name) for name in ("code", "type", "status")] if isinstance(error, dict) else []
    return {str(one) for one in own} | {str(one.get("reason")) for one in _details(value)}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "").strip()
    seconds = _duration(value)
    if seconds is not None or not value:
        return seconds
    # A date counts from the server's own clock, which the same answer shows: ours may differ.
    now = _date(headers.get("date", ""))
    return None if now is None else retry_after_s({"retry-after": value}, now)


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo is not None else None


def _retry_info(value: Any) -> float | None:
    """Gemini says it in the body: `{"@type": ".../google.rpc.RetryInfo", "retryDelay": "34.07s"}`."""
    for one in _details(value):
        if str(one.get("@type", "")).endswith("google.rpc.RetryInfo"):
            return _duration(str(one.get("retryDelay", "")))
    return None


def _reset(headers: Mapping[str, str]) -> float | None:
    """OpenAI's limits: until the used-up ones are full again; if none says so, until the first one is."""
    resets: list[float] = []
    used_up: list[float] = []
    for name, text in headers.items():
        if name.startswith("x-ratelimit-reset-"):
            seconds = _duration(text)
            if seconds:
                resets.append(seconds)
                if headers.get(name.replace("-reset-", "-remaining-"), "").strip() == "0":
                    used_up.append(seconds)
    return max(used_up) if used_up else min(resets, default=None)


def _duration(text: str, *, unit: str = "s") -> float | None:
    """`12`, `0.5`, `12ms`, `1m30.5s`; None for anything else."""
    text = text.strip().lower()[:40]
    total, at = 0.0, 0
    while match := _DURATION.match(text, at):
        if not match[2] and (at or match.end() != len(text)):
            return None
        total += float(match[1]) * _SECONDS[match[2] or unit]
        at = match.end()
    return total if text and at == len(text) and math.isfinite(total) else None
