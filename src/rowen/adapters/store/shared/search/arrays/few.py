"""As much of numpy's interface as a search needs, on lists: for a few thousand numbers, without the import.

Whole numbers have any size here and all others are doubles, but where 32 bits are asked for by name. Given
the same numbers, each function answers as numpy's does; a test compares them. A name that is not here is a
reason to use numpy after all.
"""

from __future__ import annotations

import operator
import struct
from array import array as packed
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from math import inf as inf
from pathlib import Path
from typing import Any

from rowen.adapters.store.shared.search.arrays.library import NotFew

MOST_READ = 300_000
"""Numbers of a file."""


class _Whole:
    """Whole numbers as a file has them; in memory they are those of Python."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __call__(self, number: int) -> int:
        return int(number)


int8, uint8, int32, uint32, int64 = map(_Whole, "bBiIq")
bool_ = bool
float64 = float
ndarray = None


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotFew


class float32(float):  # noqa: N801 - as numpy calls it
    """What is divided by it is rounded to 32 bits."""


def _each(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator, number by number."""

    def method(self: Few, other: Any) -> Few:
        if isinstance(other, list):
            return Few(map(work, self, other))
        return Few([work(one, other) for one in self])

    return method


def _each_from_right(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Few, other: Any) -> Few:
        return Few([work(other, one) for one in self])

    return method


class Few(list[Any]):
    """An array of one dimension."""

    __slots__ = ()
    __hash__ = None
    __add__ = _each(operator.add)
    __radd__ = _each_from_right(operator.add)
    __sub__ = _each(operator.sub)
    __rsub__ = _each_from_right(operator.sub)
    __mul__ = _each(operator.mul)
    __rmul__ = _each_from_right(operator.mul)
    __rpow__ = _each_from_right(operator.pow)
    __lshift__ = _each(operator.lshift)
    __rshift__ = _each(operator.rshift)
    __and__ = _each(operator.and_)
    __or__ = _each(operator.or_)
    __eq__ = _each(operator.eq)
    __ne__ = _each(operator.ne)
    __lt__ = _each(operator.lt)
    __le__ = _each(operator.le)
    __gt__ = _each(operator.gt)
    __ge__ = _each(operator.ge)
    # A list would take the numbers in at its end.
    __iadd__ = __add__
    __imul__ = __mul__

    def __truediv__(self, other: Any) -> Few:
        found: Few = _each(operator.truediv)(self, other)
        if isinstance(other, float32):
            return Few(struct.unpack(f"{len(found)}f", struct.pack(f"{len(found)}f", *found)))
        return found

    def __neg__(self) -> Few:
        return Few([-one for one in self])

    def __invert__(self) -> Few:
        """Of truths alone: numpy's answer for whole numbers is another one."""
        return Few([not one for one in self])

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, list):
            if at and at[0] is not True and at[0] is not False:
                return Few([list.__getitem__(self, one) for one in at])
            return Few([one for one, chosen in zip(self, at, strict=True) if chosen] if at else [])
        found = list.__getitem__(self, at)
        return Few(found) if isinstance(at, slice) else found

    def __setitem__(self, at: Any, value: Any) -> None:
        places: Iterable[int]
        if isinstance(at, slice):
            places = range(*at.indices(len(self)))
        elif isinstance(at, list):
            is_mask = bool(at) and (at[0] is True or at[0] is False)
            places = [place for place, chosen in enumerate(at) if chosen] if is_mask else at
        else:
            list.__setitem__(self, at, value)
            return
        if isinstance(value, list):
            for place, one in zip(places, value, strict=True):
                list.__setitem__(self, place, one)
        else:
            for place in places:
                list.__setitem__(self, place, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotFew

    def tolist(self) -> list[Any]:
        return list(self)

    def astype(self, kind: Any, *, copy: bool = True) -> Few:
        return Few(map(kind, self)) if kind in (float, bool) else Few(self)

    def view(self, _kind: Any) -> Few:
        return self

    def sum(self) -> Any:
        return sum(self)

    def mean(self) -> float:
        return float(sum(self)) / len(self)

    def min(self) -> Any:
        return min(self)

    def max(self, *, initial: Any = None) -> Any:
        return max(self) if initial is None else max(chain((initial,), self))

    def clip(self, low: Any, high: Any) -> Few:
        return Few([min(max(one, low), high) for one in self])

    def argsort(self, *, kind: str = "") -> Few:
        return Few(sorted(range(len(self)), key=list(self).__getitem__))

    def searchsorted(self, wanted: Sequence[Any], side: str = "left") -> Few:
        ascending, find = list(self), bisect_left if side == "left" else bisect_right
        return Few([find(ascending, one) for one in wanted])


class Grid:
    """An array of two dimensions: rows of numbers."""

    def __init__(self, rows: list[Few]) -> None:
        self._rows = rows

    def __getitem__(self, at: Any) -> Any:
        return Grid([self._rows[one] for one in at]) if isinstance(at, list) else self._rows[at]

    def __setitem__(self, at: tuple[int, Few], value: Any) -> None:
        row, places = at
        self._rows[row][places] = value

    def max(self, *, axis: int) -> Few:
        if axis:
            raise NotFew
        return Few(map(max, *self._rows)) if len(self._rows) > 1 else Few(self._rows[0])


class Vectors(list[bytes]):
    """Rows of signed bytes."""

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, list):
            return list.__getitem__(self, at)
        is_mask = bool(at) and (at[0] is True or at[0] is False)
        return Vectors([self[place] for place in (flatnonzero(at) if is_mask else at)])

    def dots(self, asked: bytes) -> Few:
        """The dot products with one of them."""
        import simsimd

        length = len(asked)
        question = memoryview(asked).cast("b", shape=[1, length])
        rows = memoryview(b"".join(self)).cast("b", shape=[len(self), length])
        dots: Any = simsimd.cdist(question, rows, "dot", out_dtype="float32")
        found: list[list[float]] = memoryview(dots).tolist()  # type: ignore[assignment]
        return Few(found[0])


class _Signed(bytes):
    """Signed bytes that were not made rows of yet."""

    def reshape(self, rows: int, _rest: int) -> Vectors:
        size = len(self) // rows
        return Vectors([bytes(self[start : start + size]) for start in range(0, len(self), size)])


def array(numbers: Iterable[Any], kind: Any = None) -> Few:
    return Few(map(float, numbers)) if kind is float else Few(numbers)


def fromiter(numbers: Iterable[Any], kind: Any) -> Few:
    return array(numbers, kind)


def frombuffer(data: bytes, kind: Any) -> Any:
    if kind is int8:
        return _Signed(data)
    if kind != ">i8":
        raise NotFew
    return Few(struct.unpack(f">{len(data) // 8}q", data))


def fromfile(path: Path, kind: _Whole, count: int) -> Few:
    if count > MOST_READ:
        raise NotFew
    numbers = packed(kind.code)
    with path.open("rb") as file:
        data = file.read(count * numbers.itemsize)
    numbers.frombytes(data[: len(data) // numbers.itemsize * numbers.itemsize])
    return Few(numbers)


def memmap(path: Path, kind: _Whole, _mode: str, *, shape: tuple[int, ...]) -> Few:
    if len(shape) > 1:
        raise NotFew
    found = fromfile(path, kind, shape[0])
    if len(found) < shape[0]:
        raise ValueError("mmap length is greater than file size")
    return found


def empty(shape: Any, kind: Any = float) -> Any:
    if isinstance(shape, tuple):
        return Vectors()
    return zeros(shape, kind)


def zeros(shape: Any, kind: Any = float) -> Any:
    if isinstance(shape, tuple):
        rows, columns = shape
        return Grid([zeros(columns, kind) for _ in range(rows)])
    return Few([kind(0)] * shape)


def ones(count: int, kind: Any = float) -> Few:
    return Few([kind(1)] * count)


def ones_like(numbers: Few) -> Few:
    return Few([1.0 if isinstance(one, float) else 1 for one in numbers])


def full(count: int, value: Any, kind: Any = None) -> Few:
    return Few([value] * count)


def arange(count: int) -> Few:
    return Few(range(count))


def append(numbers: Few, value: Any) -> Few:
    return Few([*numbers, value])


def concatenate(parts: Iterable[Any]) -> Any:
    found = list(parts)
    return (Vectors if any(isinstance(part, Vectors) for part in found) else Few)(chain.from_iterable(found))


def repeat(numbers: Iterable[Any], counts: Iterable[int]) -> Few:
    return Few(chain.from_iterable([one] * count for one, count in zip(numbers, counts, strict=True)))


def cumsum(numbers: Iterable[Any], dtype: Any = None) -> Few:
    return Few(accumulate(map(int, numbers)))


def diff(numbers: Few, *, prepend: Any = None) -> Few:
    before = [] if prepend is None else prepend if isinstance(prepend, list) else [prepend]
    every = [*before, *numbers]
    return Few(map(operator.sub, every[1:], every))


def sort(numbers: Iterable[Any]) -> Few:
    return Few(sorted(numbers))


def partition(numbers: Iterable[Any], _at: int) -> Few:
    return sort(numbers)


def argsort(numbers: Few, *, kind: str = "") -> Few:
    return numbers.argsort()


def lexsort(keys: Sequence[Few]) -> Few:
    """The last key counts first."""
    ranked = list(zip(*reversed(keys), strict=True))
    return Few(sorted(range(len(ranked)), key=ranked.__getitem__))


def searchsorted(ascending: Few, wanted: Sequence[Any], side: str = "left") -> Few:
    return ascending.searchsorted(wanted, side)


def unique(numbers: Iterable[Any], *, return_index: bool = False, return_inverse: bool = False) -> Any:
    listed = list(numbers)
    different = sorted(set(listed))
    answers: list[Few] = [Few(different)]
    if return_index:
        first: dict[Any, int] = {}
        for place, one in enumerate(listed):
            first.setdefault(one, place)
        answers.append(Few([first[one] for one in different]))
    if return_inverse:
        number = {one: at for at, one in enumerate(different)}
        answers.append(Few([number[one] for one in listed]))
    return tuple(answers) if len(answers) > 1 else answers[0]


def isin(numbers: Iterable[Any], among: Iterable[Any]) -> Few:
    wanted = set(among)
    return Few([one in wanted for one in numbers])


def flatnonzero(numbers: Iterable[Any]) -> Few:
    return Few([place for place, one in enumerate(numbers) if one])


def count_nonzero(numbers: Iterable[Any]) -> int:
    return sum(map(bool, numbers))


def bincount(numbers: Iterable[int], weights: Iterable[Any], minlength: int) -> Few:
    found = [0.0] * minlength
    for number, weight in zip(numbers, weights, strict=True):
        found[number] += weight
    return Few(found)


def where(condition: Few, chosen: Any, other: Any) -> Few:
    yes = chosen if isinstance(chosen, list) else [chosen] * len(condition)
    no = other if isinstance(other, list) else [other] * len(condition)
    return Few([a if is_so else b for is_so, a, b in zip(condition, yes, no, strict=True)])


def minimum(numbers: Few, most: Any) -> Few:
    return Few([min(one, most) for one in numbers])


def maximum(numbers: Few, least: Any) -> Few:
    if isinstance(least, list):
        return Few(map(max, numbers, least))
    return Few([max(one, least) for one in numbers])


def clip(numbers: Few, low: Any, high: Any) -> Few:
    return numbers.clip(low, high)
