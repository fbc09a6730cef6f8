"""The four states: only the transitions in the table exist."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.source import Status
from rowen.core.state import IllegalTransition, Step, after

CANCELS = {Step.CANCEL_NEW, Step.CANCEL_SUCCEEDED, Step.CANCEL_FAILED}
ENDS = {Step.SUCCEED, Step.FAIL, Step.LOSE, *CANCELS}


def test_a_run_starts_from_rest_only_and_ends_from_running_only() -> None:
    for status, step in product(Status, Step):
        legal = step in ENDS if status is Status.RUNNING else step is Step.START
        legal = legal or (status is Status.ERROR and step is Step.APPROVE)
        if legal:
            assert after(status, step) in Status
        else:
            with pytest.raises(IllegalTransition):
                after(status, step)


@given(st.lists(st.sampled_from(sorted(Step))))
def test_whatever_happens_a_source_can_always_come_to_rest(steps: list[Step]) -> None:
    status = Status.IDLE
    for step in steps:
        with suppress(IllegalTransition):
            status = after(status, step)
    if status is Status.RUNNING:
        status = after(status, Step.LOSE)
    assert after(status, Step.START) is Status.RUNNING
