"""Which HTTP status an error of ours becomes, and which messages callers must not see.

The REST door makes problem details of it, the page a sentence; the decision is here, and nowhere else. What a
caller must not know (where the store lies) is logged and not sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from rowen import errors
from rowen.engine.tasks import Dropped
from rowen.errors import RowenError

STATUSES: tuple[tuple[type[RowenError], int], ...] = (
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.StoreUnusable, 503),
    (errors.PartMissing, 503),
    (errors.ConfigError, 422),
    (errors.BadLocation, 422),
    (errors.UserError, 400),
    (errors.FetchTimeout, 504),
    (errors.ConnectionFailed, 502),
    (errors.CertificateRefused, 502),
    (errors.HostUnknown, 502),
    (errors.ServerFailed, 502),
    (errors.HostUnavailable, 502),
    (errors.TransientError, 503),
    (errors.AddressRefused, 422),
    (errors.PermanentError, 502),
    (errors.LeaseLost, 409),
    (Dropped, 409),
    (errors.StoreDamaged, 503),
    (RowenError, 500),
)
"""The first that fits. 5xx of a gateway (502, 504) speak of the source, 503 of this server."""

WITHHELD: Mapping[type[RowenError], str] = {
    errors.StoreUnreachable: "the database of the store does not answer",
    errors.StoreBusy: "the store is busy with another process's write",
    errors.StoreFull: "the disk of the store is full",
    errors.StoreReadOnly: "the store is read-only",
    errors.StoreUnusable: "the store cannot be used",
    errors.StoreDamaged: "the store is damaged",
}
"""Said in place of messages that tell where the store lies."""


def status_of(exc: RowenError) -> int:
    return next(status for cls, status in STATUSES if isinstance(exc, cls))


def withheld(exc: RowenError) -> str | None:
    """What is said in place of the error's own message; None when that may be shown."""
    return next((said for cls, said in WITHHELD.items() if isinstance(exc, cls)), None)
