"""The decorator `dataclass`, whose classes get their methods when these are needed.

The decorator of the standard library compiles the source of up to eleven methods when a module is imported. A
command imports over a hundred of our classes and makes instances of few, so a quarter of its start-up went
into methods that it did not call. Here the first instance writes the constructor, and the first comparison,
hash or `repr` writes the rest. Meaning and options are the standard ones. Classes without slots are left to
the standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from inspect import get_annotations
from threading import RLock
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

# The constructor comes last: a thread that sees it may rely on the others.
_AT_FIRST = (
    *("__setattr__", "__delattr__", "__match_args__", "__dataclass_params__", "__dataclass_fields__"),
    "__init__",
)
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_writing = RLock()


@dataclass_transform(field_specifiers=(dataclasses.field, dataclasses.Field))
def dataclass(
    *, frozen: bool = False, kw_only: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Callable[[type[T]], type[T]]:
    """As `dataclasses.dataclass`; with `slots` the methods are written when they are first needed."""
    complete = dataclasses.dataclass(frozen=frozen, kw_only=kw_only, eq=eq, order=order)
    begin = dataclasses.dataclass(frozen=frozen, kw_only=kw_only, eq=False, repr=False)
    compared = ("__eq__", "__hash__") if frozen else ("__eq__",)
    later = ("__repr__", *(compared if eq else ()), *(_ORDER if order else ()))

    def decorate(declared: type[T]) -> type[T]:
        if not slots:
            return complete(declared)
        return _slotted(declared, _Writer(declared, begin, complete), later, frozen=frozen)

    return decorate


def _slotted(declared: type[T], write: _Writer, later: tuple[str, ...], *, frozen: bool) -> type[T]:
    """A class with slots for the fields of the declared one, whose methods `write` writes."""
    own = [name for name, kind in get_annotations(declared).items() if not str(kind).startswith("ClassVar")]
    inherited = {name for base in declared.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    left_out = {*own, "__dict__", "__weakref__"}
    body: dict[str, Any] = {name: value for name, value in declared.__dict__.items() if name not in left_out}
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    write.later = tuple(name for name in later if body.get(name) is None)
    for name in write.later:
        body[name] = write.when_called(name)
    body["__init__"] = write.first
    for name in ("__dataclass_fields__", "__match_args__"):
        body[name] = _Unwritten(write, name)
    if frozen:
        # Copies and pickles fill an instance without its constructor; both of these ask for the fields first.
        body["__getstate__"] = dataclasses._dataclass_getstate  # type: ignore[attr-defined]
        body["__setstate__"] = dataclasses._dataclass_setstate  # type: ignore[attr-defined]
    metaclass: Callable[..., type[T]] = type(declared)
    made = metaclass(declared.__name__, declared.__bases__, body)
    made.__qualname__ = declared.__qualname__
    write.made = made
    return made


class _Writer:
    """Writes the methods of one class, in two steps, each once."""

    def __init__(
        self, declared: type, begin: Callable[[type], type], complete: Callable[[type], type]
    ) -> None:
        self.made: type = declared
        self.later: tuple[str, ...] = ()
        self._declared = declared
        self._steps = [complete, begin]

        def first(instance: object, /, *args: Any, **named: Any) -> None:
            self.begin()
            self.made.__init__(instance, *args, **named)  # type: ignore[misc]

        self.first = first

    def when_called(self, name: str) -> Callable[..., Any]:
        """A method that writes itself when it is called, and answers with what it has written."""

        def method(instance: object, /, *args: Any) -> Any:
            self._complete()
            return getattr(self.made, name)(instance, *args)

        return method

    def begin(self) -> None:
        """What an instance needs."""
        with _writing:
            if len(self._steps) == 2:
                self._write(_AT_FIRST)

    def _complete(self) -> None:
        """What is asked of instances."""
        with _writing:
            self.begin()
            if self._steps:
                self._write((*self.later, "__dataclass_params__"))

    def _write(self, names: tuple[str, ...]) -> None:
        # The decorator takes the defaults out of the class it is given, so each step gets one of its own.
        not_copied = ("__dict__", "__weakref__")
        body = {name: value for name, value in self._declared.__dict__.items() if name not in not_copied}
        # A class without a docstring would get its signature as one, which takes as long as all the rest.
        body["__doc__"] = self._declared.__doc__ or self._declared.__name__
        written = self._steps[-1](
            type(self._declared)(self._declared.__name__, self._declared.__bases__, body)
        )
        for name in names:
            if name in written.__dict__:
                setattr(self.made, name, written.__dict__[name])
        self._steps.pop()


class _Unwritten:
    """An attribute of a class that is not written yet: to read it writes it."""

    def __init__(self, write: _Writer, name: str) -> None:
        self.write = write
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        self.write.begin()
        return getattr(owner, self.name)
