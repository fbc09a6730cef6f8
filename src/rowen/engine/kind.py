"""What a kind of source is: how it is added, counted and harvested, and what it answers each time.

The engine runs kinds and imports none: wiring fills the register they are found in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Protocol

from rowen.core import params as parameters
from rowen.core.document import NO_VALIDATORS
from rowen.core.params import Param
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.window import Window
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import RowenError
from rowen.ports.store.documents import Documents, Listing
from rowen.ports.store.runs import RunEnd
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A location as it will be remembered."""

    kind: str
    location: str
    findings: tuple[str, ...] = ()
    """What was found there, in sentences."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Harvested:
    stop_reason: StopReason
    error: RowenError | None = None
    """Why it stopped early."""
    root_answered: bool = True
    """The source itself (a root page, a listing) answered well. If not, deletions wait for a person."""
    hint: str | None = None
    """What a person should know, also when all went well."""
    mode: Mode | None = None
    """What kind of run it turned out to be, when the source knows better than the call."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the source wants to remember (when it last listed everything); kept when the run succeeds."""
    remember: Mapping[str, Any] = field(default_factory=dict)
    """The same, kept after every run that shows something or finds nothing new."""
    given_up: int = 0
    """Failures that hold nothing up: these items failed again and again."""
    window: Window | None = None
    """The stretch of time that was asked for, by a source that is read in windows."""
    complete: bool = True
    """Everything that was asked for came; if not, watermark and history stay where they are."""
    more: bool = False
    """There is more to take in right now: history that one run does not reach."""
    progress: Mapping[str, Any] | None = None
    """What was done, by reference, of a round that takes more than one run; empty when it is complete.

    None leaves alone what is remembered of it.
    """
    settle: Callable[[], Awaitable[None]] | None = None
    """Called when everything of a complete harvest is stored, before the run decides how it ends."""
    server_time: datetime | None = None
    """What the server's clock said when it was first asked, for a source that has a watermark."""

    @classmethod
    def stopped(cls, reason: StopReason, error: RowenError, *, root_answered: bool) -> Harvested:
        return cls(stop_reason=reason, error=error, root_answered=root_answered)


class Prepare(Protocol):
    """Check and complete a location; with `check`, ask the server there. Raises `BadLocation`.

    `settings` are the values of all of the kind's parameters, defaults included.
    """

    def __call__(
        self, ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool
    ) -> Coroutine[Any, Any, Prepared]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SampledItem:
    """What one item of a sample holds."""

    body_bytes: int
    passages: int
    chars: int
    """Of the passages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A look at a source before its first harvest."""

    items: int
    """How many it has, as far as that can be told without harvesting it."""
    exact: bool
    """They were counted."""
    whence: str
    """How their number is known, in words."""
    read: tuple[SampledItem, ...]
    tried: int
    """How many were asked for; those that are not in `read` are no documents, or could not be had."""
    requests: int = 0
    total_bytes: int | None = None
    """Of all items, where a listing says it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    name: str
    params: tuple[Param, ...]
    claims: Callable[[Ports, str], bool] = lambda ports, location: False
    """Does a location look like one of these? The first of our own kinds that says so is asked."""
    prepare: Prepare
    guess: Prepare | None = None
    """Called instead of `prepare` when the caller names no kind; may prepare the location for another one."""
    preload: bool = True
    """Load all that readers see before the harvest; other kinds look it up, page by page or when needed."""
    count: Callable[[Ports, Source, Mapping[str, Any]], Coroutine[Any, Any, int]] | None = None
    """How many items there are, when that can be had cheaply: for `rowen plan`."""
    sample: Callable[[Ports, Source, Mapping[str, Any]], Coroutine[Any, Any, Sample]] | None = None
    """A look at a few items, for `rowen plan` before the first harvest. It stores nothing."""
    covers: Callable[[Source, Mapping[str, Any]], Callable[[str], bool]] | None = None
    """Says of a reference whether it belongs to a source with these settings, as far as its name says it.

    A kind without it cannot be edited: its documents do not show which settings they came by.
    """
    lists: bool = False
    """Each run lists all that there is: what other settings add is found without reading anything again."""
    asks_named: bool = False
    """A run can be asked for some references alone, at the price of these: a request each, or none."""
    asks_named_if: Callable[[Source, Mapping[str, Any]], bool] | None = None
    """The same of one source with its settings, where not all sources of a kind can."""
    follows_files: bool = False
    """Its location is a path of this machine, and a run can be asked for some of its files alone."""
    harvest: Callable[[Ports, Source, Mapping[str, Any], Intake], Coroutine[Any, Any, Harvested]]


def asks_named(kind: Kind, source: Source) -> bool:
    """Can this source be asked for some references alone, at their price?"""
    if kind.asks_named_if is None:
        return kind.asks_named
    return kind.asks_named_if(source, parameters.complete(kind.params, source.params))


PROGRESS = "rowen:progress"
"""The remembered listing of what runs that were cut off have done, for the run that goes on."""


def progress_of(source: Source, listings: Mapping[str, Listing]) -> dict[str, Any]:
    """The `Harvested.progress` of the runs before; empty when readers see another generation by now."""
    listing = listings.get(PROGRESS)
    if listing is None or listing.payload["generation"] != source.active_generation:
        return {}
    return dict(listing.payload["done"])


async def save_progress(
    store: Documents, source: Source, intake: Intake, harvested: Harvested, end: RunEnd
) -> None:
    """Before the run's end is written: a crash in between leaves a generation that is never shown."""
    if harvested.progress is None or not end.status.is_good:
        return
    failed = intake.failed_updates
    done = {name: value for name, value in harvested.progress.items() if name not in failed}
    generation = end.activate if end.activate is not None else source.active_generation
    payload = {"generation": generation, "done": done}
    listing = Listing(url=PROGRESS, validators=NO_VALIDATORS, payload=payload)
    await store.save_listing(intake.lease, source.id, listing)
