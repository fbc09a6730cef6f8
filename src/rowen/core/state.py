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
    CANCEL_SHOWN = "cancel_shown"
    """The run of a source that has a visible generation was cancelled."""
    CANCEL_NEW = "cancel_new"
    """The first run was cancelled."""
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
    (Status.RUNNING, Step.CANCEL_SHOWN): Status.SUCCESS,
    (Status.RUNNING, Step.CANCEL_NEW): Status.IDLE,
    (Status.RUNNING, Step.LOSE): Status.ERROR,
    (Status.ERROR, Step.APPROVE): Status.SUCCESS,
}


class IllegalTransition(AssertionError):
    """A bug: no input can cause it."""


def after(status: Status, step: Step) -> Status:
    try:
        return _NEXT[status, step]
    except KeyError:
        raise IllegalTransition(f"a source that is {status} cannot {step}") from None
