"""What a kind of source is: how it is added, counted and harvested, and what it answers each time.

The engine runs kinds and imports none: wiring fills the register they are found in.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rowen.core.params import Param
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.window import Window
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import RowenError


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
class Kind:
    name: str
    params: tuple[Param, ...]
    claims: Callable[[Ports, str], bool] = lambda ports, location: False
    """Does a location look like one of these? The first of our own kinds that says so is asked."""
    prepare: Prepare
    guess: Prepare | None = None
    """Called instead of `prepare` when the caller names no kind; may prepare the location for another one."""
    preload: bool = True
    """Load all that readers see before the harvest; kinds that list too much look it up page by page."""
    count: Callable[[Ports, Source, Mapping[str, Any]], Coroutine[Any, Any, int]] | None = None
    """How many items there are, when that can be had cheaply: for `rowen plan`."""
    harvest: Callable[[Ports, Source, Mapping[str, Any], Intake], Coroutine[Any, Any, Harvested]]
