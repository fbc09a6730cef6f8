"""What goes in and out, described: models made of the shapes of all doors, and the two bodies of requests."""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from rowen.core.run import Counters
from rowen.doors.shapes.shape import MISSING, Format, Rounded, Shape, fields_of

_MADE: dict[type[Shape], type[BaseModel]] = {}


def model(shape: type[Shape]) -> type[BaseModel]:
    """The model of a shape; the docstring of each field is its description."""
    if shape not in _MADE:
        _MADE[shape] = _make(shape)
    return _MADE[shape]


def _make(shape: type[Shape]) -> type[BaseModel]:
    docs = _docs(shape)
    described: dict[str, Any] = {}
    for field in fields_of(shape):
        if field.kind is Counters:
            described |= _counters()
        else:
            default = ... if field.default is MISSING else field.default
            described[field.name] = (_kind(field.kind), Field(default, description=docs.get(field.name)))
    extra: Any = {"examples": list(shape.examples)} if shape.examples else None
    return create_model(
        shape.schema_name,
        __doc__=shape.__doc__,
        __config__=ConfigDict(json_schema_extra=extra),
        **described,
    )


def _kind(kind: Any) -> Any:
    """The same type with models in place of shapes, in words that pydantic knows."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return Union[tuple(_kind(one) for one in arguments)]  # noqa: UP007 - of as many as there are
    if origin is list:
        return list[_kind(arguments[0])]  # type: ignore[misc]
    if origin is Annotated:
        note = kind.__metadata__[0]
        if isinstance(note, Rounded):
            return arguments[0]
        assert isinstance(note, Format)
        return Annotated[str, WithJsonSchema({"type": "string", "format": note.name})]
    return model(kind) if isinstance(kind, type) and issubclass(kind, Shape) else kind


def _counters() -> dict[str, Any]:
    docs, kinds = _docs(Counters), get_type_hints(Counters)
    return {
        name: (int if kinds[name] is int else dict[str, int], Field(value, description=docs.get(name)))
        for name, value in Counters().as_dict().items()
    }


def _docs(cls: type) -> dict[str, str]:
    """What stands below each annotated field; Python itself keeps no docstring of an attribute."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__[:-1]):
        (defined,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(defined, ast.ClassDef)
        for field, below in zip(defined.body, defined.body[1:], strict=False):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = text.rstrip(".")
    return found


class NewSource(BaseModel):
    """A source to add. Its server is asked first; private addresses are refused."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "location": "https://docs.example.org/3.12/",
                    "name": "example",
                    "version": "3.12",
                    "settings": {"max_depth": "3", "include": "/3.12/library/**"},
                    "every": "6h",
                }
            ]
        },
    )

    location: str = Field(
        min_length=1, max_length=2000, description="An address, or a folder that is allowed"
    )
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: str | None = Field(default=None, max_length=64, description="Detected if omitted")
    version: str = Field(default="", pattern=r"^([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?$")
    settings: dict[str, str] = Field(default={}, description="As `rowen add --set` takes them")
    every: str | None = Field(
        default=None, max_length=32, description="`15m`, `6h`, `1d`, `weekly` or `auto`"
    )


class NewSubscription(BaseModel):
    """To one of `path`, `heading`, `symbol` and `question`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "symbol": "asyncio.gather",
                    "url": "https://ci.example.org/hooks/rowen",
                    "sources": ["python"],
                }
            ]
        },
    )

    url: str = Field(min_length=1, max_length=2000, description="Messages are posted there")
    path: str = Field(default="", max_length=1000, description="Pages whose path fits, such as `library/*`")
    heading: str = Field(
        default="", max_length=1000, description="Sections with this heading, or path of them"
    )
    symbol: str = Field(default="", max_length=1000, description="The definition of a name")
    question: str = Field(default="", max_length=1000, description="The best answer of a search")
    sources: list[str] = Field(default=[], max_length=50, description="Only of these; all if omitted")
    secret: str = Field(
        default="", max_length=200, description="Signs each message, by reference: `${HOOK_SECRET}`"
    )
    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")


class Rollback(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"to": 2}, {}]})

    to: int | None = Field(default=None, ge=1, le=2**31, description="The one before, if omitted")
    pin: bool = Field(default=False, description="Stay there: the source is not synced until it is resumed")
