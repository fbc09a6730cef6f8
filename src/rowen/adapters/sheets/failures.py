"""What Google's answers mean when they are not what was asked for.

Quota and server failures are transient; what a person has to change comes with a hint.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from rowen.core.web.retry_after import retry_after_s
from rowen.errors import NotFound, PermanentError, RateLimited, RowenError, ServerFailed, UserError
from rowen.ports.fetcher import Response

QUOTA_S = 60.0
"""Quotas are by the minute, and Google seldom says when the next one begins."""
_SAID_CHARS = 300


def failure(response: Response, spreadsheet_id: str, email: str, now: datetime) -> RowenError:
    """The error for an answer of the Sheets service that is not a success."""
    status = response.status
    error = _error(response)
    said = _said(error.get("message"))
    message = f"spreadsheet `{spreadsheet_id}`: {status} from Google" + (f", {said}" if said else "")
    reasons = _reasons(error)
    passing = _passing(response, message, reasons, now)
    if passing is not None:
        return passing
    hint: str | None = None
    kind: type[RowenError] = PermanentError
    if status == 401:
        kind, hint = UserError, f"the key of `{email}` is not accepted: make a new one in Google's console"
    elif status == 403 and reasons & {"SERVICE_DISABLED", "accessNotConfigured"}:
        kind, hint = UserError, "switch the Google Sheets API on in the project of the service account"
    elif "protected" in said.lower():
        kind, hint = UserError, f"let `{email}` edit the protected range, or take our columns out of it"
    elif status == 403:
        kind, hint = UserError, f"share the sheet with `{email}`, as an editor"
    elif status == 404:
        kind, hint = NotFound, f"check the setting `spreadsheet`, and share the sheet with `{email}`"
    elif status == 400 and "not supported for this document" in said:
        kind, hint = UserError, "it is an Excel file: save it as a Google sheet first"
    return kind(message, hint=hint, status=status)


def token_failure(response: Response, email: str, now: datetime) -> RowenError:
    """The error for a token address that gives no token."""
    status = response.status
    answer = json_of(response.body)
    values = answer if isinstance(answer, dict) else {}
    said = _said(values.get("error_description") or values.get("error"))
    message = f"account `{email}`: {status} instead of a token" + (f", {said}" if said else "")
    passing = _passing(response, message, set(), now)
    if passing is not None:
        return passing
    if status == 200:
        return ServerFailed(message, status=status)
    hint = "the key was revoked or belongs to another account: make a new one in Google's console"
    if "timeframe" in said or "iat" in said:
        hint = "the clock of this machine is wrong"
    return UserError(message, hint=hint, status=status)


def no_such_tab(response: Response) -> bool:
    return response.status == 400 and "No grid with id" in str(_error(response).get("message"))


def json_of(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def _passing(response: Response, message: str, reasons: set[str], now: datetime) -> RowenError | None:
    status = response.status
    wait_s = retry_after_s(response.headers, now)
    if status == 429 or reasons & {"RESOURCE_EXHAUSTED", "rateLimitExceeded", "userRateLimitExceeded"}:
        return RateLimited(message, retry_after_s=QUOTA_S if wait_s is None else wait_s, status=status)
    if status >= 500 or status == 408:
        return ServerFailed(message, retry_after_s=wait_s, status=status)
    return None


def _error(response: Response) -> dict[str, Any]:
    answer = json_of(response.body)
    error = answer.get("error") if isinstance(answer, dict) else None
    return error if isinstance(error, dict) else {}


def _reasons(error: dict[str, Any]) -> set[str]:
    lists = [error.get("details"), error.get("errors")]
    inner = [one for some in lists if isinstance(some, list) for one in some if isinstance(one, dict)]
    return {str(error.get("status"))} | {str(one.get("reason")) for one in inner}


def _said(message: object) -> str:
    line = "".join(c if c.isprintable() else " " for c in message) if isinstance(message, str) else ""
    return line.strip().rstrip(".")[:_SAID_CHARS]
