"""Errors of things done together."""

from __future__ import annotations

from rowen.errors import LeaseLost, RowenError


def first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error that matters of a group: a lost lease, then a bug, then what we raise on purpose."""
    errors: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop()
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(error.exceptions)
        else:
            errors.append(error)
    return min(errors, key=lambda e: (not isinstance(e, LeaseLost), isinstance(e, RowenError)))
