"""The tools: what each is called, what it takes, what it answers.

The list is sent to a model with every conversation, so it is short; `tests/doors/mcp/test_tools.py` holds it
to a size. No tool adds or removes anything.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from typing import Any

from rowen.core.freshness.recheck import wanted_share
from rowen.core.rules.version import sort_key
from rowen.core.text.tokens import CHARACTERS_PER_TOKEN
from rowen.doors import asking, states
from rowen.doors.mcp import answers
from rowen.doors.mcp.answers import Answer
from rowen.doors.mcp.arguments import Arguments
from rowen.doors.mcp.refreshing import Report, Sync, refresh
from rowen.engine.ports import Ports
from rowen.errors import UserError
from rowen.managing.find import choose, find, find_changed, find_pair
from rowen.reading import read as reading
from rowen.reading.as_of import resolve
from rowen.reading.proof import proven
from rowen.reading.recent import what_changed
from rowen.reading.search import MAX_LIMIT
from rowen.reading.versions import compare
from rowen.records import dataclass
from rowen.service.attempts import NotRun, paused

HITS = 5
BUDGET_TOKENS = 2_000
LEAST_TOKENS, MOST_TOKENS = 200, 20_000
"""An answer holds its text twice, and clients take no event of more than a megabyte."""
MAX_ID = 2**62


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """What belongs to one call: how to tell its client how far it is, and whether it may sync."""

    report: Report
    sync: Sync
    refused: str | None = None
    """Why a sync is not for this client."""


Call = Callable[[Ports, Arguments, Caller], Awaitable[Answer]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    name: str
    description: str
    call: Call
    takes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    answers: Mapping[str, str]
    """The fields of the answer that are always there, with their types."""
    read_only: bool = True


async def _search_docs(ports: Ports, arguments: Arguments, caller: Caller) -> Answer:
    query, source, version = (arguments.text(name) for name in ("query", "source", "version"))
    limit = arguments.number("limit", low=1, high=MAX_LIMIT, default=HITS) or HITS
    if version and not source:
        raise UserError("argument `version`: a version of which source?", hint="give `source` with it")
    if not query:
        raise UserError("argument `query`: the query is empty", hint="say what to look for")
    named = [_label(source, version)] if source else []
    wanted = arguments.text("fresh")
    if wanted and caller.refused:
        raise UserError(f"argument `fresh`: nothing is asked for again: {caller.refused}")
    found = await asking.search(
        ports,
        query,
        fresh=wanted_share(wanted) if wanted else None,
        sources=named,
        language=arguments.text("language"),
        limit=limit,
        as_of=arguments.text("as_of") or None,
        generation=arguments.number("generation", low=1, high=MAX_ID),
    )
    every = await ports.store.sources()
    hint = "Try other words" + (", or without `source`." if source else ".")
    if not any(one.active_generation for one in every):
        hint = "Nothing was synced yet: a person runs `rowen sync`."
    # When a source was verified is said of what readers see now.
    verified = {} if found.as_of else {one.label: one.last_success_at for one in every}
    return answers.search(found, verified, hint=hint)


async def _list_sources(ports: Ports, arguments: Arguments, caller: Caller) -> Answer:
    found = [await states.without_lost(ports, one) for one in await ports.store.sources()]
    documents = {}
    for one in found:
        generations = await ports.store.generations(one.id)
        documents[one.id] = next((shown.documents for shown in generations if shown.active), 0)
    return answers.sources(found, documents, await states.standings(ports, found))


async def _find_version(ports: Ports, arguments: Arguments, caller: Caller) -> Answer:
    name, _, in_name = arguments.required("source").partition("@")
    wanted = arguments.text("version") or in_name
    chosen = await choose(ports.store, _label(name, wanted))
    every = [one for one in await ports.store.sources() if one.name == chosen.name]
    every.sort(key=lambda one: sort_key(one.version), reverse=True)
    return answers.version(chosen, wanted, every)


async def _read_document(ports: Ports, arguments: Arguments, caller: Caller) -> Answer:
    url, section = arguments.text("url"), arguments.text("section")
    document_id = arguments.number("document_id", low=1, high=MAX_ID)
    budget = arguments.number("budget_tokens", low=LEAST_TOKENS, high=MOST_TOKENS, default=BUDGET_TOKENS)
    if bool(url) == (document_id is not None):
        raise UserError("which document?", hint="give either `url` or `document_id`")
    now, stale = ports.clock.now(), ""
    then = await resolve(ports.store, [], at=arguments.text("as_of") or None, generation=None, now=now)
    if then and arguments.flag("raw"):
        raise UserError("argument `raw`: of older versions the records are not kept", hint="omit `as_of`")
    if document_id is not None:
        document = await reading.by_id(ports.store, document_id, then)
    else:
        document = await reading.by_url(ports.store, url, then)
        anchor = url.partition("#")[2]
        # An address that leads to a section means that section; a stale anchor is no error, and is told.
        if not section and anchor and not arguments.flag("raw"):
            section = reading.section_at(document, anchor) or ""
            stale = "" if section else anchor
    verified = document.verified_at
    if then is None:
        (document,) = await proven(ports.store, [document], now)
    if arguments.flag("raw"):
        record = json.dumps(await reading.record(ports.store, document), ensure_ascii=False, indent=1)
        document = replace(document, text=f"```json\n{record}\n```\n")
    aliases = await ports.store.aliases(document.id)
    chars = (budget or BUDGET_TOKENS) * CHARACTERS_PER_TOKEN
    # With little room, few headings: the text comes first.
    headings = min(answers.HEADINGS_LISTED, chars // 800)
    room = chars
    while True:
        part = reading.excerpt(document, section=section, chars=room)
        answer = answers.document(
            document, part, verified, headings=headings, aliases=aliases, stale_anchor=stale
        )
        over = len(answer.text) - chars
        # The words around the text count too; what they need is known once they are written.
        if over <= 0 or room <= 0:
            return answer
        room -= over


async def _what_changed(ports: Ports, arguments: Arguments, caller: Caller) -> Answer:
    source, against = arguments.text("source"), arguments.text("against")
    if against:
        if not source:
            raise UserError("argument `against`: compared with which source?", hint="give `source` with it")
        return answers.compared(await compare(ports.store, *await find_pair(ports.store, against, source)))
    chosen = await find_changed(ports.store, [source] if source else [])
    return answers.changes(await what_changed(ports.store, chosen, since=arguments.text("since")))


async def _refresh_source(ports: Ports, arguments: Arguments, caller: Caller) -> Answer:
    source = await find(ports.store, arguments.required("source"))
    if caller.refused:
        raise UserError(f"source `{source.label}`: not refreshed: {caller.refused}")
    ended = await refresh(ports, source, caller.sync, caller.report)
    if isinstance(ended, NotRun):
        raise paused(ports.clock, ended)
    return answers.refreshed(source, ended)


def _label(source: str, version: str) -> str:
    return f"{source.partition('@')[0]}@{version}" if version else source


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_THEN = {**_TEXT, "description": "ISO date or `2d` ago"}

TOOLS = (
    Tool(
        name="search_docs",
        description=(
            "Search local copies of documentation and other sources. "
            "Hits carry what to cite: source, version, URL with anchor, when verified."
        ),
        takes={
            "query": _TEXT,
            "source": {**_TEXT, "description": "name or name@version"},
            "version": {**_TEXT, "description": "best stored match"},
            "language": {**_TEXT, "description": "such as `de`"},
            "limit": {**_NUMBER, "description": f"{HITS} if left out"},
            "as_of": _THEN,
            "generation": {**_NUMBER, "description": "of `source`"},
            "fresh": {**_TEXT, "description": "`99%`: ask sites first"},
        },
        required=("query",),
        answers={"query": "string", "mode": "string", "hits": "array"},
        call=_search_docs,
    ),
    Tool(
        name="list_sources",
        description="The sources, with version, size, state and when last verified.",
        answers={"sources": "array"},
        call=_list_sources,
    ),
    Tool(
        name="find_version",
        description="The stored version of a source that best fits the wanted one.",
        takes={"source": _TEXT, "version": _TEXT},
        required=("source", "version"),
        answers={"source": "string", "version": "string", "exact": "boolean", "versions": "array"},
        call=_find_version,
    ),
    Tool(
        name="read_document",
        description=(
            "Read a document by `url` (of a hit, anchor included) or `document_id`: the section and its "
            "neighbours, within a budget. Says what was left out."
        ),
        takes={
            "url": _TEXT,
            "document_id": _NUMBER,
            "section": {**_TEXT, "description": "number, heading or anchor"},
            "budget_tokens": {**_NUMBER, "description": f"{BUDGET_TOKENS} if left out"},
            "raw": {"type": "boolean", "description": "the portal's own record"},
            "as_of": _THEN,
        },
        answers={"url": "string", "document_id": "integer", "text": "string", "left_out": "array"},
        call=_read_document,
    ),
    Tool(
        name="what_changed",
        description="Documents added, changed and removed, with headings, and the cursor for next time. "
        "With `against`: what differs between two versions.",
        takes={
            "source": {**_TEXT, "description": "all if left out"},
            "against": {**_TEXT, "description": "an older version or source"},
            "since": {**_TEXT, "description": "a cursor or ISO date"},
        },
        answers={"changes": "array", "cursor": "string", "more": "boolean"},
        call=_what_changed,
    ),
    Tool(
        name="refresh_source",
        description="Sync the copy of a source now. May take minutes.",
        takes={"source": _TEXT},
        required=("source",),
        answers={"source": "string", "status": "string", "generation": "integer"},
        call=_refresh_source,
        read_only=False,
    ),
)


def input_schema(tool: Tool) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {k: dict(v) for k, v in tool.takes.items()}}
    return {**schema, "required": list(tool.required)} if tool.required else schema


def output_schema(tool: Tool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in tool.answers.items()},
        "required": list(tool.answers),
    }
