"""The decorator `dataclass` and the base `NamedTuple`, whose classes get their methods when these are needed.

The decorator of the standard library compiles the source of up to eleven methods when a module is imported. A
command imports over a hundred of our classes, makes one or two instances of some and none of most, so a
quarter of its start-up went into methods that it did not need. Here the first instances are filled field by
field; the constructor of a class that more are made of is written, and the first comparison, hash or `repr`
writes the rest. Meaning and options are the standard ones. Classes without slots are left to the standard
decorator. A named tuple of the standard library compiles its constructor and each of its annotations; here
the constructor is written when many are made.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import _tuplegetter, namedtuple  # type: ignore[attr-defined]
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")

FEW = 100
"""To write a constructor takes as long as to fill so many instances without one."""
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_writing = RLock()
_fill = object.__setattr__


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
        return _slotted(declared, _Writer(declared, begin, complete, kw_only, frozen), later)

    return decorate


def _slotted(declared: type[T], write: _Writer, later: tuple[str, ...]) -> type[T]:
    """A class with slots for the fields of the declared one, whose methods `write` writes."""
    inherited = {name for base in declared.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    left_out = {*write.own, "__dict__", "__weakref__"}
    body: dict[str, Any] = {name: value for name, value in declared.__dict__.items() if name not in left_out}
    body["__slots__"] = tuple(name for name in write.own if name not in inherited)
    write.later = tuple(name for name in later if body.get(name) is None)
    for name in write.later:
        body[name] = write.when_called(name)
    body["__init__"] = write.first
    body["__dataclass_fields__"] = _Asked(write, "__dataclass_fields__", lambda: write.fields)
    body["__match_args__"] = _Asked(write, "__match_args__", lambda: tuple(write.positional))
    body["__dataclass_params__"] = _Asked(write, "__dataclass_params__", write.params)
    if write.frozen:
        body["__setattr__"] = write.no_change("assign to")
        body["__delattr__"] = write.no_change("delete")
        # Copies and pickles fill an instance without its constructor; both of these ask for the fields first.
        body["__getstate__"] = dataclasses._dataclass_getstate  # type: ignore[attr-defined]
        body["__setstate__"] = dataclasses._dataclass_setstate  # type: ignore[attr-defined]
    metaclass: Callable[..., type[T]] = type(declared)
    made = metaclass(declared.__name__, declared.__bases__, body)
    made.__qualname__ = declared.__qualname__
    write.made = made
    return made


class _Writer:
    """Writes the methods of one class, in two steps, each once; until the first, it fills instances."""

    def __init__(
        self,
        declared: type,
        begin: Callable[[type], type],
        complete: Callable[[type], type],
        kw_only: bool,
        frozen: bool,
    ) -> None:
        self.frozen = frozen
        self.own = {n: t for n, t in _annotations(declared).items() if not str(t).startswith("ClassVar")}
        self.made: type = declared
        self.later: tuple[str, ...] = ()
        self._declared = declared
        self._kw_only = kw_only
        self._steps = [complete, begin]
        filled = 0

        def first(instance: object, /, *args: Any, **named: Any) -> None:
            nonlocal filled
            filled += 1
            if filled > FEW or not self._filled(instance, args, named):
                self._begin()
                self.made.__init__(instance, *args, **named)  # type: ignore[misc]

        self.first = first

    @cached_property
    def fields(self) -> dict[str, dataclasses.Field[Any]]:
        """By name, with those of the bases before its own, as the standard decorator has them."""
        found: dict[str, dataclasses.Field[Any]] = {}
        for base in self._declared.__mro__[-1:0:-1]:
            found |= getattr(base, "__dataclass_fields__", {})
        return found | {name: self._field(name, kind) for name, kind in self.own.items()}

    @cached_property
    def positional(self) -> list[str]:
        return [name for name, one in self.fields.items() if one.init and not one.kw_only]

    def when_called(self, name: str) -> Callable[..., Any]:
        """A method that writes itself when it is called, and answers with what it has written."""

        def method(instance: object, /, *args: Any) -> Any:
            self._complete()
            return getattr(self.made, name)(instance, *args)

        return method

    def no_change(self, verb: str) -> Callable[..., None]:
        """The method of a frozen class that refuses to change a field."""

        def method(instance: object, name: str, *value: Any) -> None:
            if type(instance) is self.made or name in self.fields:
                raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")
            change = "__setattr__" if value else "__delattr__"
            getattr(super(self.made, instance), change)(name, *value)

        return method

    def params(self) -> Any:
        """The options of the decorator, for one that is put on a subclass."""
        self._begin()
        return self.made.__dict__["__dataclass_params__"]

    def _field(self, name: str, kind: Any) -> dataclasses.Field[Any]:
        default = self._declared.__dict__.get(name, MISSING)
        one: dataclasses.Field[Any] = (
            default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        )
        one.name, one.type = name, kind
        one._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
        if one.kw_only is MISSING:
            one.kw_only = self._kw_only
        return one

    def _filled(self, instance: object, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Give an instance its fields. False where the constructor has to: it knows what is wrong."""
        fields, given = self.fields, named
        if args:
            given = dict(zip(self.positional, args, strict=False))
            if len(args) > len(given) or not given.keys().isdisjoint(named):
                return False
            given |= named
        used = 0
        for name, one in fields.items():
            if name in given and one.init:
                used += 1
                _fill(instance, name, given[name])
            elif one.default is not MISSING:
                _fill(instance, name, one.default)
            elif one.default_factory is not MISSING:
                _fill(instance, name, one.default_factory())
            else:
                return False
        if used < len(given):
            return False
        check = getattr(instance, "__post_init__", None)
        if check is not None:
            check()
        return True

    def _begin(self) -> None:
        """What is used by every instance of many."""
        with _writing:
            if len(self._steps) == 2:
                # The constructor comes last: a thread that sees it may rely on the other.
                self._write(("__dataclass_params__", "__init__"))
                # A base without slots keeps its fields in a dictionary.
                if self.frozen and all(
                    hasattr(getattr(self.made, one, None), "__set__") for one in self.fields
                ):
                    self.made.__init__ = _constructor(self.made, self.fields)  # type: ignore[misc]

    def _complete(self) -> None:
        """What is asked of instances."""
        with _writing:
            self._begin()
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


def _constructor(made: type, fields: Mapping[str, dataclasses.Field[Any]]) -> Callable[..., None]:
    """As the standard one of a frozen class, in two thirds of its time.

    A field goes straight to its slot; `object.__setattr__` looks up the slot by its name each time.
    """
    known: dict[str, Any] = {"_absent": MISSING}
    positional: list[str] = []
    named: list[str] = []
    steps: list[str] = []
    for name, one in fields.items():
        known[f"_set_{name}"] = getattr(made, name).__set__
        known[f"_default_{name}"], known[f"_make_{name}"] = one.default, one.default_factory
        if one.init:
            (named if one.kw_only else positional).append(name + _default(name, one))
        if value := _value(name, one):
            steps.append(f"_set_{name}(self, {value})")
    if hasattr(made, "__post_init__"):
        steps.append("self.__post_init__()")
    arguments = ", ".join(("self", *positional, *(("*", *named) if named else ())))
    exec(f"def __init__({arguments}):\n " + "\n ".join(steps or ["pass"]), known)
    written: Callable[..., None] = known["__init__"]
    written.__qualname__ = f"{made.__qualname__}.__init__"
    return written


def _default(name: str, one: dataclasses.Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return "=_absent"
    return f"=_default_{name}" if one.default is not MISSING else ""


def _value(name: str, one: dataclasses.Field[Any]) -> str:
    """What a field is set to; empty for one that is not set."""
    if one.default_factory is not MISSING:
        return f"_make_{name}() if {name} is _absent else {name}" if one.init else f"_make_{name}()"
    if one.init:
        return name
    return f"_default_{name}" if one.default is not MISSING else ""


def _annotations(declared: type) -> dict[str, Any]:
    """Those of the class itself, without the module `inspect`, which takes long to import."""
    if "__annotations__" in declared.__dict__ or sys.version_info < (3, 14):
        found: dict[str, Any] = declared.__dict__.get("__annotations__", {})  # noqa: RUF063
    else:
        # What was not asked for yet is not in the class.
        found = declared.__annotations__
    return found


class _Asked:
    """An attribute of a class that is worked out when it is first read."""

    def __init__(self, write: _Writer, name: str, answer: Callable[[], Any]) -> None:
        self.write = write
        self.name = name
        self.answer = answer

    def __get__(self, instance: object, owner: type) -> Any:
        found = self.answer()
        setattr(self.write.made, self.name, found)
        return found


class _Named(tuple[Any, ...]):
    """What named tuples have in common."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **named: Any) -> Any:
        made = self._make([named.pop(name, value) for name, value in self._asdict().items()])
        if named:
            raise ValueError(f"Got unexpected field names: {[*named]!r}")
        return made

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({said})"


class _NamedType(type):
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        return _named(name, body) if bases else super().__new__(cls, name, bases, body)


def _named(name: str, body: dict[str, Any]) -> type:
    """A named tuple whose first instances are made without a constructor."""
    fields = tuple(body["__annotations__"])
    defaults = {field: body.pop(field) for field in fields if field in body}
    filled = 0

    def first(cls: type, /, *given: Any, **named: Any) -> Any:
        nonlocal filled
        filled += 1
        after = fields[len(given) :]
        if (
            filled <= FEW
            and named.keys() <= {*after} <= named.keys() | defaults.keys()
            and len(given) <= len(fields)
        ):
            return tuple.__new__(
                cls, (*given, *(named[one] if one in named else defaults[one] for one in after))
            )
        # It knows what is wrong with a call, too.
        written = namedtuple(name, fields, defaults=[*defaults.values()]).__new__
        made.__new__ = staticmethod(written)  # type: ignore[method-assign,assignment]
        return written(cls, *given, **named)

    body |= {field: _tuplegetter(at, f"Alias for field number {at}") for at, field in enumerate(fields)}
    body |= {
        "__slots__": (),
        "__new__": first,
        "_fields": fields,
        "__match_args__": fields,
        "_field_defaults": defaults,
    }
    made = type(name, (_Named,), body)
    return made


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class NamedTuple(metaclass=_NamedType):
        """As `typing.NamedTuple`; the only base of a class."""
