"""Our own kinds of sink."""

from __future__ import annotations

from rowen.engine.sink_kind import SinkKind
from rowen.sinks.atom import sink as atom
from rowen.sinks.export import sink as export
from rowen.sinks.sheets import settings
from rowen.sinks.sheets import sink as sheets
from rowen.sinks.webhook import sink as webhook


def builtin() -> dict[str, SinkKind]:
    return {
        "webhook": SinkKind(send=webhook.send, check=webhook.check, params=webhook.PARAMS),
        "export": SinkKind(
            send=export.send,
            check=export.check,
            params=export.PARAMS,
            from_beginning=True,
            stale=export.stale,
        ),
        "atom": SinkKind(send=atom.send, check=atom.check, params=atom.PARAMS, stale=atom.stale),
        "sheets": SinkKind(
            send=sheets.send,
            check=sheets.check,
            params=settings.PARAMS,
            from_beginning=True,
            # People write into a sheet too, which is in no feed.
            stale=lambda sink, sources: True,
            not_before=sheets.not_before,
        ),
    }
