"""The decorator `dataclass`, whose classes get their methods when the first instance is made.

The decorator of the standard library compiles the source of up to eleven methods when a module is imported. A
command imports over a hundred of our classes and makes instances of few, so a quarter of its start-up went
into methods that it did not call. Meaning and options are the standard ones. Classes without slots are left
to the standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from inspect import get_annotations
from threading import RLock
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

# The constructor comes last: a thread that sees it may rely on the others.
_WRITTEN = (
    *("__repr__", "__eq__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__", "__setattr__", "__delattr__"),
    *("__match_args__", "__dataclass_params__", "__dataclass_fields__", "__init__"),
)
_writing = RLock()


@dataclass_transform(field_specifiers=(dataclasses.field, dataclasses.Field))
def dataclass(
    *, frozen: bool = False, kw_only: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Callable[[type[T]], type[T]]:
    """As `dataclasses.dataclass`; with `slots` the methods are written when they are first needed."""
    complete = dataclasses.dataclass(frozen=frozen, kw_only=kw_only, eq=eq, order=order)

    def decorate(declared: type[T]) -> type[T]:
        return _slotted(declared, complete, frozen=frozen) if slots else complete(declared)

    return decorate


def _slotted(declared: type[T], complete: Callable[[type], type], *, frozen: bool) -> type[T]:
    """A class with slots for the fields of the declared one, whose methods `complete` writes later."""
    own = [name for name, kind in get_annotations(declared).items() if not str(kind).startswith("ClassVar")]
    inherited = {name for base in declared.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    left_out = {*own, "__dict__", "__weakref__"}
    body: dict[str, Any] = {name: value for name, value in declared.__dict__.items() if name not in left_out}
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    write = _Writer(declared, complete)
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
    """Writes the methods of one class, once."""

    def __init__(self, declared: type, complete: Callable[[type], type]) -> None:
        self.made: type = declared
        self.declared: type | None = declared
        self.complete = complete

        def first(instance: object, /, *args: Any, **named: Any) -> None:
            self()
            self.made.__init__(instance, *args, **named)  # type: ignore[misc]

        self.first = first

    def __call__(self) -> None:
        with _writing:
            if (declared := self.declared) is None:
                return
            # A class without a docstring would get its signature as one, which takes as long as all the rest.
            declared.__doc__ = declared.__doc__ or declared.__name__
            written = self.complete(declared).__dict__
            for name in _WRITTEN:
                if name in written:
                    setattr(self.made, name, written[name])
            self.declared = None


class _Unwritten:
    """An attribute of a class that is not written yet: to read it writes it."""

    def __init__(self, write: _Writer, name: str) -> None:
        self.write = write
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        self.write()
        return getattr(owner, self.name)
