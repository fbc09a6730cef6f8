"""What differs between two signatures, in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.compare.signatures import differences, parameters


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("task(coro, *, name=None)", "task(coro, *, name=None, context=None)", ["new parameter `context`"]),
        ("wait(fs, loop)", "wait(fs)", ["parameter `loop` removed"]),
        ("f(a=1)", "f(a=2)", ["default of `a` is `2`, was `1`"]),
        ("f(a)", "f(a=None)", ["`a` is optional now"]),
        ("f(a=None)", "f(a)", ["`a` is required now"]),
        ("f(a: int)", "f(a: str)", ["type of `a` is `str`, was `int`"]),
        ("f(a, b)", "f(b, a)", ["order of parameters changed"]),
        ("range(start, stop[, step])", "range(start, stop)", ["parameter `step` removed"]),
        ("open(const char *path)", "open(const char *path, int flags)", ["new parameter `flags`"]),
        ("f(a: dict[str, int] = {}, b='x,y')", "f(a: dict[str, int] = {}, b='x')", [
            "default of `b` is `'x'`, was `'x,y'`"
        ]),
        ("f(*args)", "f(*args, **options)", ["new parameter `**options`"]),
        ("f()  ->  int", "f() -> int", []),
        ("f() -> int", "f() -> str", ["`f() -> int` is now `f() -> str`"]),
        ("WORK_MEM", "WORK_MEM 4MB", ["`WORK_MEM` is now `WORK_MEM 4MB`"]),
        ("f(a", "f(b)", ["`f(a` is now `f(b)`"]),
    ],
)  # fmt: skip
def test_a_difference_is_told_in_words(before: str, after: str, said: list[str]) -> None:
    assert differences(before, after) == said


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_are_compared(before: str, after: str) -> None:
    assert isinstance(differences(f"f({before}", f"f({after})"), list)
    assert differences(before, before) == []


def test_parameters_have_names_defaults_and_types() -> None:
    found = parameters("def f(x: Callable[[int], None] = lambda y: 3, *, key='a=b') -> int")
    assert found is not None
    assert [(one.name, one.default, one.type) for one in found.values()] == [
        ("x", "lambda y: 3", "Callable[[int], None]"),
        ("key", "'a=b'", ""),
    ]
