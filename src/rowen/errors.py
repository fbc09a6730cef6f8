"""Every error Rowen raises on purpose.

RowenError
├─ UserError        the caller can fix it           exit 2, HTTP 4xx
│    ConfigError · NotFound · Conflict · Pinned · BadLocation · StoreUnusable · StoreReadOnly
│    PartMissing · EmbedderRefused
├─ TransientError   the same call may work later    retried with backoff
│    FetchTimeout · ConnectionFailed · CertificateRefused · HostUnknown · RateLimited · ServerFailed
│    HostUnavailable
│    StoreBusy · StoreUnreachable · StoreFull · EmbedderUnavailable
├─ PermanentError   this item will not work         recorded; the run goes on
│    Unfetchable · Vanished · AddressRefused · BodyTooLarge · Unparseable · Expired
├─ LeaseLost        another owner has the source    the run stops at once, writes nothing more
└─ StoreDamaged     what was stored is unreadable   exit 1, HTTP 503; nothing is answered from the rest

Anything else is a bug: its traceback is kept and shown. Every error carries its facts as attributes
(`exc.facts`), so that doors and tests never parse a message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class RowenError(Exception):
    """The root of the map. `message` names the thing, the fact and the cause; `hint` the next step."""

    reason: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.facts = facts


class UserError(RowenError):
    reason = "bad_call"


class ConfigError(UserError):
    reason = "bad_setting"


class EmbedderRefused(ConfigError):
    """The embedding provider refuses every text: its key, model or another setting is wrong."""

    reason = "embedder_refused"


class NotFound(UserError):
    reason = "not_found"


class Conflict(UserError):
    reason = "conflict"


class Pinned(Conflict):
    """A person pinned the source to its generation: waiting does not help, resuming does."""

    reason = "pinned"


class BadLocation(UserError):
    """What was given to `add` cannot be a source: not a URL, an unknown host, nothing there."""

    reason = "bad_location"


class StoreUnusable(UserError):
    """The store's file is not a database of ours, or cannot be opened."""

    reason = "store_unusable"


class StoreReadOnly(StoreUnusable):
    """The store can be read, and the call wants to write."""

    reason = "store_read_only"


class PartMissing(UserError):
    """A part of the schema was taken down: what it holds cannot be asked for."""

    reason = "part_missing"

    @classmethod
    def of(cls, part: str) -> PartMissing:
        return cls(
            f"this store has no `{part}`: that part of its schema was taken down",
            hint="`rowen db upgrade` brings it back, empty",
            part=part,
        )


class TransientError(RowenError):
    reason = "transient"

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after_s: float | None = None, **facts: object
    ) -> None:
        super().__init__(message, hint=hint, **facts)
        self.retry_after_s = retry_after_s


class FetchTimeout(TransientError):
    reason = "timeout"


class ConnectionFailed(TransientError):
    reason = "connection_failed"


class CertificateRefused(TransientError):
    """The server shows a certificate that does not prove who it is: no request is sent to it."""

    reason = "certificate_refused"


class HostUnknown(TransientError):
    reason = "host_unknown"


class RateLimited(TransientError):
    reason = "rate_limited"


class ServerFailed(TransientError):
    reason = "server_failed"


class HostUnavailable(TransientError):
    """Too many failures of a host in a row: it is not asked any more in this run."""

    reason = "host_unavailable"


class StoreBusy(TransientError):
    reason = "store_busy"


class StoreUnreachable(StoreBusy):
    """Its server does not answer."""

    reason = "store_unreachable"


class StoreFull(TransientError):
    reason = "store_full"


class EmbedderUnavailable(TransientError):
    reason = "embedder_unavailable"


class PermanentError(RowenError):
    reason = "permanent"


class Unfetchable(PermanentError):
    reason = "unfetchable"


class Vanished(PermanentError):
    """It was in the listing of this run and is not there any more."""

    reason = "vanished"


class AddressRefused(PermanentError):
    """A fetch would have left the allowed addresses."""

    reason = "address_refused"


class BodyTooLarge(PermanentError):
    reason = "body_too_large"


class Unparseable(PermanentError):
    reason = "unparseable"


class Expired(PermanentError):
    """The server has forgotten where a listing stood: only from its beginning can it be read again."""

    reason = "expired"


class LeaseLost(RowenError):
    """Another owner has the lease: this process must not write any more."""

    reason = "lease_lost"


class StoreDamaged(RowenError):
    """The store holds something that cannot be read, or that points at something that is not there."""

    reason = "store_damaged"
    HINT = "`rowen db check` says what is damaged; `rowen db rescue` saves the rest into a new store"

    def __init__(self, message: str, *, hint: str | None = HINT, **facts: object) -> None:
        super().__init__(message, hint=hint, **facts)


def named(name: str) -> type[TransientError | PermanentError]:
    """The class of an error that another process recorded; `PermanentError` if the name is unknown here."""
    kinds: list[type[TransientError | PermanentError]] = [
        TransientError,
        *TransientError.__subclasses__(),
        *PermanentError.__subclasses__(),
    ]
    return next((kind for kind in kinds if kind.__name__ == name), PermanentError)


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "", cutoff: float = 0.6) -> str:
    """A hint about an unknown name: the nearest known one, else `otherwise`, else all known ones."""
    import difflib

    names = list(known)
    close = difflib.get_close_matches(name, names, 1, cutoff)
    return f"did you mean `{close[0]}`?" if close else otherwise or f"known: {', '.join(names)}"
