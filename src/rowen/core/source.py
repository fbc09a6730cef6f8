"""What a source is, and the four states it can be in.

A source is one outside thing to mirror. Its key is derived from what is fetched. Adding a source
with other parameters makes another source; editing one keeps its documents and history, under a new key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from rowen.core.run import Result
from rowen.core.safety import secrets
from rowen.records import dataclass

FATAL = "fatal"
"""In a source's metadata: its settings or credentials are wrong."""
WHOLE_RUN_AT = "whole_run_at"
"""In a source's metadata, while its latest runs asked for named references only: when all of it was asked."""
UNFINISHED = "unfinished"
"""In a source's metadata: its last run ended at its time limit, and the next one goes on from there."""
SWEEP = "sweep"
"""In a source's metadata: how often all its pages were asked for in turn since it has a budget."""
AUTO_EVERY_S = "auto_every_s"
"""In a source's metadata: the interval that was chosen for it, for `every = "auto"`."""
AUTO = 0.0
"""The `every_s` of a source whose interval is chosen by what was learnt of it."""
LEFT_OUT = "left_out"
"""In a source's metadata: what the last run that asked for everything left out because of limits."""
ADDED_BY = "added_by"
"""In a source's metadata: who added it, when it was not the operator of this machine."""
EDITED = "edited"
"""In a source's metadata: its settings fetch something else since the last whole run; see `Edited`."""
API = "api"
"""Added over the network, not by the operator of this machine: it may not lead to private addresses."""
LIST = "list"
"""The same of a source whose location stands in a list that was read from an address."""


CREDENTIALS = ("cookie", "basic", "bearer", "token")
"""Parameters that refer to credentials, beside `header`."""


class Edited(StrEnum):
    """What the next whole run of an edited source must do."""

    COVER = "cover"
    """Drop what the settings do not cover any more; a listing names what they add."""
    READ = "read"
    """The same, and read everything again: what was stored does not say what the settings add."""


class Status(StrEnum):
    IDLE = "IDLE"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    ERROR = "ERROR"


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSource:
    """A source as the caller describes it, before the store has seen it."""

    kind: str
    name: str
    version: str = ""
    location: str
    params: Mapping[str, Any] = field(default_factory=dict)
    key: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    id: int
    key: str
    kind: str
    name: str
    version: str
    location: str
    params: Mapping[str, Any]
    status: Status
    active_generation: int
    """What readers see; 0 before the first harvest."""
    last_generation: int
    """The highest number that was ever visible; numbers are not reused."""
    held_generation: int | None
    held_reason: str | None
    last_run_at: datetime | None
    last_success_at: datetime | None
    last_error_at: datetime | None
    last_error: str | None
    watermark: datetime | None
    last_processed_date: date | None
    consecutive_failures: int
    metadata: Mapping[str, Any]
    created_at: datetime
    every_s: float | None = None
    """Its own interval; None for the common one, `AUTO` for one that is chosen."""
    paused: bool = False
    """By a person, until a person resumes it."""
    last_result: Mapping[str, Any] | None = None
    """How its last run ended; see `result`."""
    held_at: datetime | None = None
    """Since when its runs end held; kept while a run works on it, until one is good or a person decides."""
    paused_at: datetime | None = None
    paused_by: str | None = None
    """Who paused it, as `core.rules.standing` names callers; None for one that an earlier version paused."""
    pinned_at: datetime | None = None
    """Since when it stays at the generation readers see: no run of it begins until it is resumed."""
    pinned_by: str | None = None

    @property
    def result(self) -> Result | None:
        """How its last run ended; None before the first has."""
        return None if self.last_result is None else Result.from_dict(self.last_result)

    @property
    def host(self) -> str:
        """Who answers its requests: a host, with its port unless that is the usual one; else its kind."""
        if self.location.lstrip()[:4].lower() != "http":
            return self.kind
        from rowen.core.web import urls  # its parser takes long to import

        return urls.origin_of(self.location).partition("://")[2] or self.kind

    @property
    def upstream(self) -> str:
        """The host and the account it asks with: rate limits, and so pauses, belong to both."""
        texts = [*dict(self.params.get("header") or {}).values(), *map(self.params.get, CREDENTIALS)]
        accounts = sorted({name for text in texts if text for name in secrets.names(str(text))})
        return f"{self.host} as {', '.join(accounts)}" if accounts else self.host

    @property
    def is_broken(self) -> bool:
        """Its last run ended with an error that only a person can fix."""
        return self.status is Status.ERROR and bool(self.metadata.get(FATAL))

    @property
    def is_pinned(self) -> bool:
        return self.pinned_at is not None

    @property
    def rests(self) -> bool:
        """A person paused or pinned it: `rowen serve` and workers leave it alone."""
        return self.paused or self.is_pinned

    @property
    def edited(self) -> Edited | None:
        """Its settings fetch something else than what readers see."""
        said = self.metadata.get(EDITED)
        return Edited(said) if said in tuple(Edited) else None

    @property
    def left_out(self) -> dict[str, int]:
        """How many items its last whole run left out because of a limit, by reason."""
        return dict(self.metadata.get(LEFT_OUT, {}))

    @property
    def is_auto(self) -> bool:
        """Is its interval chosen by how fast its pages change?"""
        return self.every_s == AUTO

    @property
    def own_every_s(self) -> float | None:
        """Its own interval, also one that was chosen; None for the common one."""
        if not self.is_auto:
            return self.every_s
        chosen = self.metadata.get(AUTO_EVERY_S)
        return float(chosen) if isinstance(chosen, int | float) and chosen > 0 else None

    @property
    def is_typed(self) -> bool:
        """Did the operator of this machine write its location?"""
        return ADDED_BY not in self.metadata

    @property
    def whole_run_at(self) -> datetime | None:
        """When a run last asked for everything; runs for named references do not count."""
        said = self.metadata.get(WHOLE_RUN_AT)
        return datetime.fromisoformat(said) if isinstance(said, str) else self.last_run_at

    @property
    def label(self) -> str:
        return label_of(self.name, self.version)


def label_of(name: str, version: str) -> str:
    """How people name a source: `name`, or `name@version` of one with a version."""
    return f"{name}@{version}" if version else name


def source_key(*, kind: str, name: str, location: str, version: str, identity: Mapping[str, Any]) -> str:
    """`kind:name:hash`, the hash over everything that decides what is fetched."""
    from rowen.core import hashing

    digest = hashing.of_mapping({"location": location, "version": version, **identity})
    return f"{kind}:{name}:{digest.hex()[:16]}"
