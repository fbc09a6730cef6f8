"""The four states of a source, and the only ways between them.

    IDLE, SUCCESS or ERROR ── a run starts ──▶ RUNNING ──▶ SUCCESS, ERROR, or where it was before

A transition that is not in the table does not exist: asking for it is a bug and raises. A source whose run
died is still RUNNING in the store; `LOST` is the way out of that, and nothing else is.
"""

from __future__ import annotations

from enum import StrEnum

from rowen.core.source import Status


class Step(StrEnum):
    START = "start"
    SUCCEED = "succeed"
    FAIL = "fail"
    CANCEL_NEW = "cancel_new"
    """A cancelled run leaves the source in the state it was in before: here, that of one that never ran."""
    CANCEL_SUCCEEDED = "cancel_succeeded"
    """The same after a run that succeeded."""
    CANCEL_FAILED = "cancel_failed"
    """The same after a run that failed or was lost."""
    LOSE = "lose"
    """The process that ran it is gone."""
    APPROVE = "approve"
    """A person approved a held generation."""


_NEXT = {
    (Status.IDLE, Step.START): Status.RUNNING,
    (Status.SUCCESS, Step.START): Status.RUNNING,
    (Status.ERROR, Step.START): Status.RUNNING,
    (Status.RUNNING, Step.SUCCEED): Status.SUCCESS,
    (Status.RUNNING, Step.FAIL): Status.ERROR,
    (Status.RUNNING, Step.CANCEL_NEW): Status.IDLE,
    (Status.RUNNING, Step.CANCEL_SUCCEEDED): Status.SUCCESS,
    (Status.RUNNING, Step.CANCEL_FAILED): Status.ERROR,
    (Status.RUNNING, Step.LOSE): Status.ERROR,
    (Status.ERROR, Step.APPROVE): Status.SUCCESS,
}


_CANCELLED = {Status.IDLE: Step.CANCEL_NEW, Status.SUCCESS: Step.CANCEL_SUCCEEDED}


def cancelled(before: Status) -> Status:
    """The state after a cancelled run; a source that was RUNNING before it had lost its run."""
    return after(Status.RUNNING, _CANCELLED.get(before, Step.CANCEL_FAILED))


class IllegalTransition(AssertionError):
    """A bug: no input can cause it."""


def after(status: Status, step: Step) -> Status:
    try:
        return _NEXT[status, step]
    except KeyError:
        raise IllegalTransition(f"a source that is {status} cannot {step}") from None
