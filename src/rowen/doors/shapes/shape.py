"""What a JSON shape is: fields with types, where each value comes from, and a sentence about it.

`Handoff.show(handoff)` makes the dictionary that every door sends. The REST door makes its description of the
same class (`doors/rest/models.py`), with the docstring of a field as its description. Nothing here prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin, get_type_hints

from rowen.core.run import Counters
from rowen.records import NamedTuple, dataclass

MISSING: Any = object()
_PLAIN: frozenset[type] = frozenset({str, int, float, bool, NoneType})


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a string, in the words of JSON Schema."""

    name: str


@dataclass(frozen=True, slots=True)
class Rounded:
    digits: int


Time = Annotated[str, Format("date-time")]
Day = Annotated[str, Format("date")]


@dataclass(frozen=True, slots=True)
class At:
    read: Callable[[Any], Any]


def at(where: str | Callable[[Any], Any]) -> Any:
    """The value of a field that is not the attribute of its own name: another attribute, or a function."""
    return At(attrgetter(where) if isinstance(where, str) else where)


class Field(NamedTuple):
    name: str
    kind: Any
    read: Callable[[Any], Any]
    convert: Callable[[Any], Any]
    default: Any
    as_they_are: frozenset[type]
    """Values of these types need no converting: most of a page of hits."""


class Shape:
    """Declare fields as annotations. A field of type `Counters` stands for every counter of a run."""

    schema_name: ClassVar[str] = "Shape"
    """What the shape is called in the description of the REST API."""
    examples: ClassVar[Sequence[Mapping[str, Any]]] = ()

    def __init_subclass__(cls, *, schema_name: str = "") -> None:
        cls.schema_name = schema_name or cls.__name__

    @classmethod
    def show(cls, *values: Any, **given: Any) -> dict[str, Any]:
        """Each field by its name in `given`, else from the first of `values` that has it."""
        shown: dict[str, Any] = {}
        # Field by field without calls between: a page of hits has a thousand.
        for name, kind, read, convert, _, as_they_are in _FOUND.get(cls) or fields_of(cls):
            if name in given:
                value = given[name]
            else:
                for one in values:
                    try:
                        value = read(one)
                    except AttributeError:
                        continue
                    break
                else:
                    who = [type(one) for one in values]
                    raise AttributeError(f"{cls.__name__}.{name}: none of {who} has it")
            if type(value) in as_they_are:
                shown[name] = value
            elif kind is Counters:
                # A stored run has the counters of the version that ran it.
                shown |= Counters().as_dict()
                shown |= value if isinstance(value, dict) else value.as_dict()
            else:
                shown[name] = convert(value)
        return shown


def fields_of(shape: type[Shape]) -> tuple[Field, ...]:
    """Found when they are first needed: a command uses few shapes, and reading annotations takes time."""
    if shape not in _FOUND:
        _FOUND[shape] = tuple(_fields(shape))
    return _FOUND[shape]


_FOUND: dict[type[Shape], tuple[Field, ...]] = {}


def _fields(shape: type[Shape]) -> Iterator[Field]:
    own = set(get_type_hints(Shape))
    for name, kind in get_type_hints(shape, include_extras=True).items():
        if name not in own:
            default = getattr(shape, name, MISSING)
            read = default.read if isinstance(default, At) else attrgetter(name)
            plain = _PLAIN if set(get_args(kind) or (kind,)) <= {*_PLAIN, Any} else frozenset()
            default = MISSING if isinstance(default, At) else default
            yield Field(name, kind, read, _converter(kind), default, plain)


def _converter(kind: Any) -> Callable[[Any], Any]:
    """What turns a value of `core` into the JSON value of a field of this type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (inner,) = (_converter(one) for one in arguments if one is not NoneType)
        return lambda value: None if value is None else inner(value)
    if origin is Annotated:
        return _annotated(kind.__metadata__[0])
    if origin is list:
        item = _converter(arguments[0])
        return lambda value: [item(one) for one in value]
    if origin is dict:
        return dict
    if isinstance(kind, type) and issubclass(kind, Shape):
        return lambda value: value if isinstance(value, dict) else kind.show(value)
    return _plain


def _annotated(note: object) -> Callable[[Any], Any]:
    if isinstance(note, Rounded):
        return lambda value: round(value, note.digits)
    return lambda value: value.isoformat()


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return value.hex() if isinstance(value, bytes) else value
