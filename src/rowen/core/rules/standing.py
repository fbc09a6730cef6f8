"""The state of a source in one word and one sentence: the same in every door.

`Source.status` has the four states of a run; people are told one of these eight, with the reason beside it,
since when, by whom, the next step, and how loud it should be. What waits for a person gets louder with age.
Pure: what the doors know comes in, words go out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rowen.core.rules.schedule import NextRun
from rowen.core.rules.words import ago, count, day, shortened, time_of_day
from rowen.core.run import RunStatus
from rowen.core.source import Source, Status
from rowen.records import dataclass

if TYPE_CHECKING:
    from rowen.core.generation import Activation

NOTICE_AFTER = timedelta(days=1)
ALARM_AFTER = timedelta(days=3)
"""A hold without a decision for so long is an outage."""
ERROR_CHARS = 160

CLI, API, PYTHON, WEB = "cli", "api", "python", "web"
"""Who decided something, where no token says it."""
_CALLERS = {CLI: "the command line", API: "the API", PYTHON: "a Python program", WEB: "the web page"}
_TOKEN = "token "


class State(StrEnum):
    UP_TO_DATE = "up to date"
    RUNNING = "running"
    PARTIAL = "partial"
    """Its last run did not bring everything; what it did not bring is as it was."""
    WAITING = "waiting"
    """For the time at which it is asked again: its upstream wants quiet, its last run failed, or a person
    went back to an older generation."""
    PAUSED = "paused"
    """By a person; a pinned source is one of these."""
    HELD = "held"
    """A generation waits for a person's approval."""
    STOPPED = "stopped"
    """Settings or credentials are wrong: it waits for a person."""
    NEVER_RUN = "never run"


class Loudness(StrEnum):
    QUIET = "quiet"
    NOTICE = "notice"
    ALARM = "alarm"


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    state: State
    says: str
    """Why, in words, without the state itself and without a full stop."""
    since: datetime | None = None
    by: str | None = None
    """Who decided it, in words: `token ops`, `the command line`."""
    hint: str | None = None
    """The next step, for a person."""
    loudness: Loudness = Loudness.QUIET

    @property
    def needs_person(self) -> bool:
        return self.state in (State.HELD, State.STOPPED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a run that is under way has come."""

    started_at: datetime
    counters: Mapping[str, Any]

    @property
    def done(self) -> int:
        names = ("created", "updated", "unchanged", "deleted", "failed", "skipped")
        return sum(int(self.counters.get(name, 0)) for name in names)


def by_token(name: str) -> str:
    """How a decision of a token's bearer is stored."""
    return f"{_TOKEN}{name}"


def caller(by: str | None) -> str | None:
    """A stored decider in words."""
    return None if by is None else _CALLERS.get(by, by)


def standing(
    source: Source,
    now: datetime,
    *,
    running: bool = False,
    progress: Progress | None = None,
    documents: int = 0,
    quiet_until: datetime | None = None,
    next_run: NextRun | None = None,
    problems: Mapping[str, int] | None = None,
    rollback: Activation | None = None,
) -> Standing:
    """The state of a source. What is not given is left out of the sentence, never guessed.

    `running` says that a live process runs it; `quiet_until` when its upstream may be asked again;
    `problems` are the failed items of its last run by reason; `rollback` is why readers see what they see.
    """
    if running:
        return _running(now, progress, documents)
    if source.held_generation is not None:
        return _held(source, now)
    if source.rests:
        return _rests(source, now)
    if source.is_broken:
        return Standing(
            state=State.STOPPED,
            says=shortened(source.last_error or "its settings or credentials are wrong", ERROR_CHARS),
            since=source.last_error_at,
            hint=f"fix it, then `rowen resume {source.label}`",
            loudness=_loudness(source.last_error_at, now, at_least=Loudness.NOTICE),
        )
    if quiet_until is not None:
        words = f"`{source.upstream}` asks for quiet until {time_of_day(quiet_until, now)}"
        hint = f"`rowen resume {source.label}` allows it before that"
        return Standing(state=State.WAITING, says=words, hint=hint)
    result = source.result
    if result is None and source.last_run_at is None:
        says = f"added {ago(source.created_at, now)}"
        return Standing(
            state=State.NEVER_RUN,
            says=says,
            since=source.created_at,
            hint=f"harvest it with `rowen sync {source.label}`",
        )
    if source.status is not Status.RUNNING and result is not None and result.outcome is RunStatus.PARTIAL:
        return _partial(source, result.missing, problems or {})
    if source.status is not Status.SUCCESS or (result and result.outcome is RunStatus.CANCELLED):
        return _unfinished(source, now, next_run)
    if rollback is not None and (source.last_success_at is None or rollback.at > source.last_success_at):
        return _rolled_back(source, rollback, now)
    says = f"verified {ago(source.last_success_at, now)}"
    if result is not None and result.asked_some:
        # Not all of it was looked at: it is not said to be verified.
        says = f"{result.words} {ago(source.last_success_at, now)}"
    elif result is not None and result.words:
        says = f"{says}, {result.words}"
    return Standing(state=State.UP_TO_DATE, says=says, since=source.last_success_at)


def _running(now: datetime, progress: Progress | None, documents: int) -> Standing:
    if progress is None:
        return Standing(state=State.RUNNING, says="just started")
    about = f" of about {documents:,}" if documents > progress.done else ""
    passed = (now - progress.started_at).total_seconds()
    rate = f", {progress.done / passed:.0f}/s" if passed >= 1 and progress.done >= passed else ""
    says = f"{progress.done:,}{about}{rate}" if progress.done else f"started {ago(progress.started_at, now)}"
    return Standing(state=State.RUNNING, says=says, since=progress.started_at)


def _held(source: Source, now: datetime) -> Standing:
    since = source.held_at or source.last_error_at
    return Standing(
        state=State.HELD,
        says=(source.held_reason or "it waits for a person").removeprefix("it "),
        since=since,
        hint=f"look at it with `rowen diff {source.label}`, then `rowen approve {source.label}`",
        loudness=_loudness(since, now),
    )


def _rests(source: Source, now: datetime) -> Standing:
    what, since, by = "paused", source.paused_at, caller(source.paused_by)
    if source.is_pinned:
        what = f"pinned to generation {source.active_generation}"
        since, by = source.pinned_at, caller(source.pinned_by)
    who = f" by {by}" if by else ""
    when = f" on {day(since, now)}" if since else ""
    return Standing(
        state=State.PAUSED,
        says=f"{what}{who}{when}" if who or when else f"{what} by a person",
        since=since,
        by=by,
        hint=f"`rowen resume {source.label}` lets it go on",
    )


def _rolled_back(source: Source, rollback: Activation, now: datetime) -> Standing:
    by = caller(rollback.by)
    what = f"rolled back to generation {rollback.generation}" + (f" by {by}" if by else "")
    return Standing(
        state=State.WAITING,
        says=f"{what} {ago(rollback.at, now)}; the next sync goes forward again",
        since=rollback.at,
        by=by,
        hint=f"`rowen rollback {source.label} --to {rollback.generation} --pin` stays there",
    )


def _partial(source: Source, missing: str, problems: Mapping[str, int]) -> Standing:
    says = f"{_reasons(problems)}; kept as before" if problems else missing
    if source.status is Status.ERROR and source.last_error:
        says = "; ".join(filter(None, [says, shortened(source.last_error, ERROR_CHARS)]))
    return Standing(
        state=State.PARTIAL,
        says=says or "its last run did not bring everything",
        since=source.last_run_at,
        hint=f"see `rowen runs {source.label} --items`",
    )


def _unfinished(source: Source, now: datetime, next_run: NextRun | None) -> Standing:
    """The last run failed, was cancelled or was lost: readers see what they saw."""
    says = last_run(source)
    since = source.last_run_at
    if source.status is Status.RUNNING:
        says = "its last run was interrupted"
    elif source.status is Status.ERROR and source.last_error:
        since = source.last_error_at
        # A run that a person ended has no error: this one is of the run before.
        cancelled = source.result is not None and source.result.outcome is RunStatus.CANCELLED
        says += "; the one before failed: " if cancelled else ": "
        says += shortened(source.last_error, ERROR_CHARS)
        if source.consecutive_failures > 1:
            says += f" ({source.consecutive_failures} times in a row)"
    if next_run is not None:
        says += f"; retried {'now' if next_run.at <= now else 'at ' + time_of_day(next_run.at, now)}"
    failing = source.status is Status.ERROR
    # The age of a streak is not known; that of the last success is, and it is what readers notice.
    loudness = _loudness(source.last_success_at or source.created_at, now) if failing else Loudness.QUIET
    hint = f"`rowen sync {source.label}` tries it now"
    return Standing(state=State.WAITING, says=says, since=since, hint=hint, loudness=loudness)


def last_run(source: Source) -> str:
    """How it ended, as a sentence: `its last run failed`, `its last run was partial`."""
    unknown = "failed" if source.status is Status.ERROR else "interrupted"
    state = source.result.state if source.result else unknown
    return f"its last run {'failed' if state == 'failed' else 'was ' + state}"


def _reasons(problems: Mapping[str, int]) -> str:
    """`3 timeout, 1 http_500` in words."""
    most = sorted(problems.items(), key=lambda one: (-one[1], one[0]))
    shown = [f"{count(number, 'item')} failed: {reason.replace('_', ' ')}" for reason, number in most[:1]]
    shown += [f"{number:,} {reason.replace('_', ' ')}" for reason, number in most[1:3]]
    rest = sum(number for _, number in most[3:])
    return ", ".join([*shown, *([f"{rest:,} other"] if rest else [])])


def _loudness(since: datetime | None, now: datetime, *, at_least: Loudness = Loudness.QUIET) -> Loudness:
    if since is None or now - since < NOTICE_AFTER:
        return at_least
    return Loudness.ALARM if now - since >= ALARM_AFTER else Loudness.NOTICE
