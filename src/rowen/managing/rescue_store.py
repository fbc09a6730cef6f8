"""Save what can be read of a damaged store into a new one, check it, and put it in its place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from rowen.core.exchange.store_rescue import Rescued
from rowen.engine import embedding
from rowen.errors import PermanentError
from rowen.managing.check_store import CheckPorts, check
from rowen.managing.copy_store import CopyEvent, OnCopyEvent
from rowen.ports.database.checking import Rescuing
from rowen.ports.store.notes import Notes
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RescuePorts:
    source: str
    target: str
    """Both as they may be shown."""
    rescuing: Rescuing
    open_made: Callable[[], AbstractAsyncContextManager[tuple[Notes, CheckPorts]]]
    """The new store, before it is in its place."""


async def rescue(ports: RescuePorts, *, on_event: OnCopyEvent = lambda event: None) -> Rescued:
    def tell(table: str, rows: int) -> None:
        on_event(CopyEvent(kind="reading" if table else "mending", part=table, rows=rows))

    try:
        rescued = await ports.rescuing.save(tell)
        async with ports.open_made() as (notes, checking):
            if rescued.tables["vectors"].lost or rescued.tables["passages"].rebuilt:
                # The next run embeds what has no vector any more.
                await embedding.left_out(notes)
            checked = await check(checking, on_event=on_event)
        if not checked.good:
            found = "; ".join(f"{one.part}: {one.said}" for one in checked.findings)
            raise PermanentError(
                f"store `{ports.target}`: not made: what was saved is not consistent: {found}",
                hint="this is a bug in rowen; please report it",
            )
        ports.rescuing.place()
    finally:
        ports.rescuing.discard()
    return rescued
