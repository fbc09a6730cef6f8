"""The change feed: at once, or as soon as there is a change; and the changelog of a source, for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from rowen.core.feed import START, Cursor
from rowen.doors.rest.operation import Limit, Responses, SourceName, answers, operations
from rowen.doors.rest.waiting import while_there
from rowen.doors.shapes import changelog
from rowen.doors.shapes import documents as shapes
from rowen.engine.ports import Ports
from rowen.managing.find import find, find_changed
from rowen.reading.changes import changes, releases
from rowen.reading.proof import proven_items
from rowen.service.sync_queue import SyncQueue

MAX_WAIT_S = 60.0

Since = Annotated[
    str | None,
    Query(
        description="The `cursor` of the answer before; from the beginning if omitted",
        pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$",
        examples=["12.34"],
    ),
]
Names = Annotated[list[str], Query(alias="source", description="Only of these sources, also of removed ones")]
Moment = Annotated[datetime | None, Query(description="What changed since; the last change if omitted")]
WRITTEN: Responses = {
    200: {"content": {"text/markdown": {}, changelog.ATOM: {}}, "description": "In the format that was asked"}
}
WaitS = Annotated[
    float,
    Query(description="Without a change, wait this many seconds for one", ge=0, le=MAX_WAIT_S),
]


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = operations("", "reading")

    @api.get(
        "/changes",
        summary="What was touched after a cursor, with what readers see of it now",
        **answers(shapes.Changes, 400, 404),
    )
    async def list_changes(
        request: Request,
        since: Since = None,
        names: Names = [],  # noqa: B006 - the framework makes a new one for each call
        limit: Limit = 100,
        wait_s: WaitS = 0.0,
    ) -> Any:
        """Answers at once when there is something. Every touched reference comes at least once; reading late,
        or twice, does no harm. A removed source is one change, `source_removed`, in place of all it had.
        """
        after = START if since is None else Cursor.parse(since)
        chosen = await find_changed(ports.store, names)
        items = await while_there(request, queue.feed_wait.read(after, chosen, limit=limit, wait_s=wait_s))
        cursor = str(items[-1].cursor if items else after)
        items = await proven_items(ports.store, items, ports.clock.now())
        return shapes.Changes.show(changes=items, cursor=cursor)

    @api.get(
        "/sources/{source}/changelog",
        summary="What changed in a source, for people: as JSON, Markdown or an Atom feed",
        **answers(changelog.Changelog, 404, also=WRITTEN),
    )
    async def get_changelog(
        request: Request,
        source: SourceName,
        since: Moment = None,
        format: Annotated[Literal["json", "markdown", "atom"], Query()] = "json",  # noqa: A002
        limit: Limit = 50,
    ) -> Any:
        """New, updated and removed documents, with notes on names, signatures and sections that differ.

        Without `since` it is the last change. The Atom feed has an entry for each time readers saw a change.
        """
        named = await find(ports.store, source)
        if format == "atom":
            found = await releases(ports.store, named)
            text = changelog.atom(named, found, now=ports.clock.now(), url=str(request.url))
            return Response(text, media_type=changelog.ATOM)
        if since is not None and since.tzinfo is None:
            since = since.replace(tzinfo=UTC)
        changed = await changes(ports.store, named, since=since, limit=limit)
        if format == "markdown":
            return Response(changelog.markdown(changed), media_type=changelog.MARKDOWN)
        return changelog.Changelog.show(changed)

    return api
