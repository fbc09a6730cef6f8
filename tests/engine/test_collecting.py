"""The collector of cycles looks seldom while runs are under way, and as before after the last of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from rowen.engine.intake.collecting import SELDOM, seldom


@pytest.fixture(autouse=True)
def usual() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield (700, 10, 10)
    gc.set_threshold(*before)


def test_the_first_run_sets_it_and_the_last_one_gives_it_back(usual: tuple[int, int, int]) -> None:
    first, second = seldom(), seldom()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == SELDOM
    first.__exit__(None, None, None)
    assert gc.get_threshold() == SELDOM
    second.__exit__(None, None, None)
    assert gc.get_threshold() == usual


def test_a_run_that_fails_gives_it_back(usual: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="broken"), seldom():
        raise ValueError("broken")
    assert gc.get_threshold() == usual


@pytest.mark.parametrize("own", [(0, 10, 10), (50_000, 10, 10)], ids=["off", "seldomer"])
def test_what_a_program_has_set_for_itself_stays(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with seldom():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_what_a_program_sets_meanwhile_stays() -> None:
    with seldom():
        gc.set_threshold(5_000, 10, 10)
    assert gc.get_threshold() == (5_000, 10, 10)
