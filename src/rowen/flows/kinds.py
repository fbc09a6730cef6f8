"""The kinds of source there are, each a module that says how to list, to ask "changed?" and to fetch."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from rowen.core.params import Param
from rowen.core.source import Source
from rowen.errors import ConfigError
from rowen.flows import web
from rowen.flows.harvest import Harvested
from rowen.flows.intake import Intake
from rowen.flows.tools import Tools


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    name: str
    params: tuple[Param, ...]
    harvest: Callable[[Tools, Source, Mapping[str, Any], Intake], Coroutine[Any, Any, Harvested]]


KINDS = {kind.name: kind for kind in (Kind(name="web", params=web.PARAMS, harvest=web.harvest),)}


def kind_named(name: str) -> Kind:
    if name in KINDS:
        return KINDS[name]
    close = difflib.get_close_matches(name, KINDS, 1)
    hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(KINDS)}"
    raise ConfigError(f"kind `{name}`: no such kind of source", hint=hint)
