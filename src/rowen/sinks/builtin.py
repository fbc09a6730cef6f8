"""Our own kinds of sink, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowen.engine.sink_kind import SinkKind


def _webhook() -> SinkKind:
    from rowen.engine.sink_kind import SinkKind
    from rowen.sinks.webhook import sink

    return SinkKind(send=sink.send, check=sink.check, params=sink.PARAMS)


def _export() -> SinkKind:
    from rowen.engine.sink_kind import SinkKind
    from rowen.sinks.export import sink

    return SinkKind(
        send=sink.send,
        check=sink.check,
        params=sink.PARAMS,
        from_beginning=True,
        writes_files=True,
        stale=sink.stale,
    )


def _atom() -> SinkKind:
    from rowen.engine.sink_kind import SinkKind
    from rowen.sinks.atom import sink

    return SinkKind(send=sink.send, check=sink.check, params=sink.PARAMS, writes_files=True, stale=sink.stale)


def _sheets() -> SinkKind:
    from rowen.engine.sink_kind import SinkKind
    from rowen.sinks.sheets import settings, sink

    return SinkKind(
        send=sink.send,
        check=sink.check,
        params=settings.PARAMS,
        from_beginning=True,
        # People write into a sheet too, which is in no feed.
        stale=lambda sink, sources: True,
        not_before=sink.not_before,
    )


BUILTIN: Mapping[str, Callable[[], SinkKind]] = {
    "webhook": _webhook,
    "export": _export,
    "atom": _atom,
    "sheets": _sheets,
}
