"""YAML to values, for descriptions of APIs: mappings, sequences and text.

PyYAML parses; the values are made here from its events, so that every alias counts with what it stands for
and deep nesting is refused. Scalars stay text (`1.10` is a version, not a number); only plain null, true and
false are told apart. A key that comes twice has its last value. Tags that YAML does not define, several
documents and keys that are no scalars raise `ValueError`: the caller has a fallback.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, Any] = {"null": None, "~": None, "": None, "true": True, "false": False}
_TAGS = frozenset(("str", "int", "float", "bool", "null", "timestamp", "seq", "map"))
_MERGE = "<<"
_MAX_DEPTH = 100
_MAX_NODES = 2_000_000
"""Four times the largest description we know; 2 million values fit into the memory of a child process."""
_MAX_ALIASED_NODES = 100_000
"""What all aliases together may stand for: ten levels of ten aliases each would be ten thousand million."""


def read_yaml(text: str) -> Any:
    """Raises `ValueError` for what is no YAML, or too much of it."""
    try:
        return _Reader(yaml.parse(text, Loader=_LOADER)).read()
    except yaml.YAMLError as exc:
        raise ValueError(str(exc)) from exc


class _Reader:
    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._nodes = 0
        self._aliased = 0
        self._anchors: dict[str, tuple[Any, int]] = {}
        """By name: the value, and how many nodes it consists of."""

    def read(self) -> Any:
        value: Any = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise ValueError("several documents")
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, 0)
        return value

    def _value(self, event: yaml.Event, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError(f"nested deeper than {_MAX_DEPTH}")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor)
        tag = getattr(event, "tag", None)
        if tag not in (None, "!") and tag.removeprefix("tag:yaml.org,2002:") not in _TAGS:
            raise ValueError(f"tag `{tag}` is not known")
        before = self._nodes
        self._count(1)
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(depth)
        elif isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(depth)
        else:
            raise ValueError(f"{type(event).__name__} where a value should be")
        if event.anchor:
            self._anchors[event.anchor] = value, self._nodes - before
        return value

    def _sequence(self, depth: int) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            values.append(self._value(event, depth + 1))
        return values

    def _mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: list[Any] = []
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise ValueError("a key that is no scalar")
            value = self._value(next(self._events), depth + 1)
            if key.value == _MERGE and key.implicit[0]:
                merged += value if isinstance(value, list) else [value]
            else:
                values[key.value] = value
        for other in merged:
            if not isinstance(other, dict):
                raise ValueError("`<<` with something that is no mapping")
            self._count(len(other))
            values = {**other, **values}
        return values

    def _alias(self, name: str | None) -> Any:
        if name is None or name not in self._anchors:
            # It is not there, or not complete: it would contain itself.
            raise ValueError(f"alias `{name}` stands for nothing")
        value, nodes = self._anchors[name]
        self._aliased += nodes
        if self._aliased > _MAX_ALIASED_NODES:
            raise ValueError(f"aliases stand for more than {_MAX_ALIASED_NODES} values")
        self._count(nodes)
        return value

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > _MAX_NODES:
            raise ValueError(f"more than {_MAX_NODES} values")


def _scalar(event: yaml.ScalarEvent) -> Any:
    is_plain = event.implicit[0] and event.tag is None
    return _WORDS.get(event.value, event.value) if is_plain else event.value
