"""What plug-ins may import; nothing else of Rowen is promised to them (docs/plugins.md).

These names keep their meaning as long as the major version stays the same. They are the objects that Rowen
itself uses; where they live inside may change. Each is loaded when it is first used: a converter needs two
of them, and runs in a process that should stay small.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowen.adapters.embedders.vectors import pack as pack_vectors
    from rowen.core.document import Converted, Known, Validators
    from rowen.core.exchange.sink import Sink, SinkEntry
    from rowen.core.feed import SOURCE_REMOVED, START, Cursor, Document, FeedItem
    from rowen.core.lease import Lease
    from rowen.core.params import Param, number, one_of, optional, switch, whole, words
    from rowen.core.params import complete as complete_settings
    from rowen.core.run import Counters, Mode, StopReason
    from rowen.core.safety.secrets import Secret
    from rowen.core.source import Source
    from rowen.engine.intake import Intake
    from rowen.engine.kind import Harvested, Kind, Prepared
    from rowen.engine.ports import Ports
    from rowen.engine.sink_kind import Sent, SinkKind
    from rowen.errors import (
        BadLocation,
        ConfigError,
        EmbedderUnavailable,
        PermanentError,
        RowenError,
        TransientError,
        Unfetchable,
        Unparseable,
    )
    from rowen.fetching.client import Client, open_client, stop_reason
    from rowen.fetching.credentials import PARAMS as CREDENTIALS
    from rowen.fetching.redirects import follow
    from rowen.kinds.listing.listing import Fetched, Item, take_in
    from rowen.kinds.settings import CONCURRENCY, DELAY_S
    from rowen.ports.embedder import Embedder, EmbedderSettings, Model
    from rowen.ports.fetcher import Request, Response
    from rowen.ports.store.documents import Listing
    from rowen.sinks.declared import START as START_SETTING
    from rowen.sinks.declared import checked as check_sink_settings
    from rowen.sinks.declared import chosen as changes_of_sink
    from rowen.sinks.declared import matching as sources_of_sink

__all__ = [
    "CONCURRENCY",
    "CREDENTIALS",
    "DELAY_S",
    "SOURCE_REMOVED",
    "START",
    "START_SETTING",
    "BadLocation",
    "Client",
    "ConfigError",
    "Converted",
    "Counters",
    "Cursor",
    "Document",
    "Embedder",
    "EmbedderSettings",
    "EmbedderUnavailable",
    "FeedItem",
    "Fetched",
    "Harvested",
    "Intake",
    "Item",
    "Kind",
    "Known",
    "Lease",
    "Listing",
    "Mode",
    "Model",
    "Param",
    "PermanentError",
    "Ports",
    "Prepared",
    "Request",
    "Response",
    "RowenError",
    "Secret",
    "Sent",
    "Sink",
    "SinkEntry",
    "SinkKind",
    "Source",
    "StopReason",
    "TransientError",
    "Unfetchable",
    "Unparseable",
    "Validators",
    "changes_of_sink",
    "check_sink_settings",
    "complete_settings",
    "follow",
    "number",
    "one_of",
    "open_client",
    "optional",
    "pack_vectors",
    "sources_of_sink",
    "stop_reason",
    "switch",
    "take_in",
    "whole",
    "words",
]

_HOMES = {
    "rowen.adapters.embedders.vectors": "pack_vectors=pack",
    "rowen.core.document": "Converted Known Validators",
    "rowen.core.exchange.sink": "Sink SinkEntry",
    "rowen.core.feed": "SOURCE_REMOVED START Cursor Document FeedItem",
    "rowen.core.lease": "Lease",
    "rowen.core.params": "Param number one_of optional switch whole words complete_settings=complete",
    "rowen.core.run": "Counters Mode StopReason",
    "rowen.core.safety.secrets": "Secret",
    "rowen.core.source": "Source",
    "rowen.engine.intake": "Intake",
    "rowen.engine.kind": "Harvested Kind Prepared",
    "rowen.engine.ports": "Ports",
    "rowen.engine.sink_kind": "Sent SinkKind",
    "rowen.errors": (
        "BadLocation ConfigError EmbedderUnavailable PermanentError RowenError TransientError Unfetchable"
        " Unparseable"
    ),
    "rowen.fetching.client": "Client open_client stop_reason",
    "rowen.fetching.credentials": "CREDENTIALS=PARAMS",
    "rowen.fetching.redirects": "follow",
    "rowen.kinds.listing.listing": "Fetched Item take_in",
    "rowen.kinds.settings": "CONCURRENCY DELAY_S",
    "rowen.ports.embedder": "Embedder EmbedderSettings Model",
    "rowen.ports.fetcher": "Request Response",
    "rowen.ports.store.documents": "Listing",
    "rowen.sinks.declared": (
        "START_SETTING=START changes_of_sink=chosen check_sink_settings=checked sources_of_sink=matching"
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        for one in names.split():
            public, _, inside = one.partition("=")
            if public == name:
                value = getattr(import_module(module), inside or public)
                globals()[name] = value
                return value
    raise AttributeError(f"module `rowen.plugin` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted(__all__)
