"""For readers: search, documents, exports."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from rowen import registers
from rowen.core.exchange.columns import Format
from rowen.core.safety.access import Scope
from rowen.core.search.hit import SearchMode
from rowen.doors import answering, asking
from rowen.doors.rest.guard import require
from rowen.doors.rest.operation import DocumentId, Limit, Responses, SourceName, answers, operations
from rowen.doors.rest.problems import Refusal, refused
from rowen.doors.shapes import documents as shapes
from rowen.engine.ports import Ports
from rowen.managing.find import find
from rowen.reading import read as reading
from rowen.reading.addresses import truth
from rowen.reading.as_of import resolve
from rowen.reading.proof import proven
from rowen.service.sync_queue import SyncQueue
from rowen.sinks.export import sink as export

META = "meta."
MAX_META, MAX_SOURCES = 20, 50
MAX_NUMBER = 2**31 - 1
CHUNK = 65_536
FILE: Responses = {200: {"description": "The file", "content": {"application/jsonl": {}, "text/csv": {}}}}
MEDIA_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}

Names = Annotated[
    list[str],
    Query(
        alias="source",
        description="Only in these: `name`, `name@3` or `name@3.12`",
        max_length=MAX_SOURCES,
    ),
]
KINDS = registers.kinds()
Kinds = Annotated[
    list[str],
    Query(
        alias="kind",
        description="Only in sources of these kinds",
        json_schema_extra={"items": {"type": "string", "enum": sorted(KINDS.names())}},
    ),
]
Question = Annotated[str, Query(description="What to look for", pattern=r"\S", max_length=1000)]
Typed = Annotated[bool, Query(description="The last word may be the beginning of one, as it is being typed")]
Language = Annotated[
    str,
    Query(
        description="Only what is in this language: `de`, `pt-br`",
        pattern=r"^([A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*)?$",
        max_length=35,
    ),
]
Few = Annotated[int, Query(description="At most this many hits", ge=1, le=50)]
Skip = Annotated[int, Query(description="Skip this many of the best", ge=0, le=50)]
Then = Annotated[
    str | None,
    Query(
        description="As readers saw it then: a date (its beginning, UTC), an instant, or `2d` ago",
        max_length=100,
    ),
]
After = Annotated[str, Query(description="The `next` of the page before", max_length=4000)]


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = operations("", "reading")

    @api.get(
        "/search", summary="Search the visible documents", **answers(shapes.AnswerPage, 400, 404, family=META)
    )
    async def search(
        request: Request,
        q: Question,
        names: Names = [],  # noqa: B006 - the framework makes a new one for each call
        kinds: Kinds = [],  # noqa: B006
        mode: SearchMode = SearchMode.HYBRID,
        since: Annotated[datetime | None, Query(description="Only what was fetched since")] = None,
        language: Language = "",
        limit: Few = 10,
        offset: Skip = 0,
        prefix: Typed = False,
        as_of: Then = None,
        generation: Annotated[
            int | None,
            Query(description="In this generation of the one source that is named", ge=1, le=MAX_NUMBER),
        ] = None,
        fresh: Annotated[
            float | None,
            Query(description="Ask again for hits less likely current; needs scope `sync`", gt=0, le=1),
        ] = None,
    ) -> Any:
        """One hit for each document, with its best sections. Metadata is filtered with `meta.KEY=VALUE`, for
        example `meta.tags=water`; give several to need all of them. With `as_of` or `generation` the answer
        is that of an earlier time, as far as history is kept; `as_of` in it says where it comes from.
        """
        for kind in kinds:
            KINDS.check(kind)
        if fresh is not None:
            require(request, Scope.SYNC)
        asked = await asking.understood(
            ports,
            q,
            sources=names,
            kinds=kinds,
            metadata=_metadata(request),
            since=_moment(since),
            language=language,
            mode=mode,
            limit=offset + limit,
            prefix=prefix,
            as_of=as_of,
            generation=generation,
        )
        # The JSON is sent as it was made: the framework would read it, check it and write it again.
        page = None
        if fresh is not None:
            answer = await asking.current(ports, asked, fresh, on_change=queue.activated)
            page = answering.page(answer, limit, offset)
        elif ports.search_elsewhere is not None and asked.then is None:
            page = await ports.search_elsewhere.page(asked.call, limit=limit, offset=offset)
        if page is None:
            page = answering.page(await asking.answered(ports, asked.call, asked.then), limit, offset)
        return Response(page, media_type="application/json")

    @api.get(
        "/sources/{source}/documents",
        summary="What readers see of a source, page by page",
        **answers(shapes.Documents, 404),
    )
    async def list_documents(source: SourceName, after: After = "", limit: Limit = 100) -> Any:
        named = await find(ports.store, source)
        found = await ports.store.documents(named.id, after=after, limit=limit)
        found = await proven(ports.store, found, ports.clock.now())
        return shapes.Documents.show(
            source=named.label,
            documents=found,
            next=found[-1].reference if len(found) == limit else None,
        )

    @api.get(
        "/documents/{document_id}",
        summary="One document with its text and sections",
        **answers(shapes.WholeDocument, 400, 404),
    )
    async def get_document(document_id: DocumentId, as_of: Then = None) -> Any:
        then = await resolve(ports.store, [], at=as_of, generation=None, now=ports.clock.now())
        shown = then.generations if then else None
        found = await reading.by_id(ports.store, document_id, then)
        if then is None:
            (found,) = await proven(ports.store, [found], ports.clock.now())
        aliases, sections = await asyncio.gather(
            ports.store.aliases(document_id), ports.store.document_sections(document_id, shown=shown)
        )
        return shapes.WholeDocument.show(found, aliases=aliases, sections=sections)

    @api.get(
        "/addresses",
        summary="What is known of an address: present, gone or unknown",
        **answers(shapes.Address, 422),
    )
    async def get_address(
        url: Annotated[str, Query(description="Of a page or an item", pattern=r"\S", max_length=4000)],
    ) -> Any:
        """With the evidence and its time. An error proves nothing: an address that fails today is what it was
        when it last answered, and `failure` says so. Nothing is fetched.
        """
        return shapes.Address.show(await truth(ports.store, url, ports.clock.now()))

    @api.get(
        "/documents/{document_id}/record",
        summary="One document as its source sent it",
        **answers(shapes.Record, 404),
    )
    async def get_record(document_id: DocumentId) -> Any:
        """Items of portals, job boards and other APIs have one, whole: also what is not indexed."""
        found = await reading.by_id(ports.store, document_id)
        return shapes.Record.show(found, record=await reading.record(ports.store, found))

    @api.get(
        "/sources/{source}/export",
        summary="Everything readers see of a source, as a file",
        response_class=StreamingResponse,
        **answers(None, 404, also=FILE),
    )
    async def export_source(
        source: SourceName,
        format: Annotated[Literal["jsonl", "csv"], Query()] = "jsonl",  # noqa: A002
        text: Annotated[bool, Query(description="Also the texts")] = True,
    ) -> StreamingResponse:
        """One complete generation: when it changes meanwhile, the file is written again."""
        named = await find(ports.store, source)
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="rowen-export-")
        try:
            path = Path(folder.name) / f"{named.name}.{format}"
            wanted = export.Wanted(path=str(path), format=Format(format), text=text)
            await export.export(ports, wanted, [named.label])
        except BaseException:
            await asyncio.to_thread(folder.cleanup)
            raise
        return StreamingResponse(
            _chunks(path, folder),
            media_type=MEDIA_TYPES[format],
            headers={"Content-Disposition": f'attachment; filename="{named.name}.{format}"'},
        )

    return api


async def _chunks(path: Path, folder: tempfile.TemporaryDirectory[str]) -> AsyncIterator[bytes]:
    try:
        file = await asyncio.to_thread(path.open, "rb")
        try:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                yield chunk
        finally:
            file.close()
    finally:
        # Also when the caller went away half-way.
        folder.cleanup()


def _moment(since: datetime | None) -> datetime | None:
    if since is None or since.tzinfo is None:
        return since and since.replace(tzinfo=UTC)
    try:
        return since.astimezone(UTC)
    except OverflowError:
        # The first or the last day of the calendar, and an offset that leads out of it.
        raise Refusal(refused(422, "`since`: not a time that can be told in UTC")) from None


def _metadata(request: Request) -> dict[str, str]:
    found = {
        name.removeprefix(META): value
        for name, value in request.query_params.multi_items()
        if name.startswith(META) and name != META
    }
    if len(found) > MAX_META:
        raise Refusal(refused(422, f"`meta.`: expected at most {MAX_META} filters, got {len(found)}"))
    if any("\0" in text for pair in found.items() for text in pair):
        raise Refusal(refused(422, "`meta.`: a filter holds the character 0, which no metadata does"))
    return found
