"""The parts of a store, for copying it: their columns, and rows in a form that all databases share.

A part is a table, or one column of it that points at rows of the same table and so has to come later. Left
out is what a store makes from the rest (an index of words, embeddings as a database keeps them), and what
belongs to processes and not to the store: leases, tickets, the pages that workers are asking for, answers
that were fetched for plans, and the web hook deliveries of the last week.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from rowen.core.rules.complete import COPY
from rowen.records import dataclass

Value = str | int | float | bytes | None
Row = tuple[Value, ...]
"""Times as ISO 8601, JSON as text, truth as 0 and 1."""
Key = tuple[str | int, ...]

IDENTITY = "identity"
"""The note that tells one store from all others."""
OWN_NOTES = (COPY, IDENTITY)
"""They are about the store they are in, so they are not copied."""

_ROOM = 1 << 256


class Kind(Enum):
    INT = "int"
    REAL = "real"
    TEXT = "text"
    TIME = "time"
    DATE = "date"
    JSON = "json"
    BYTES = "bytes"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    name: str
    table: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The columns that give its rows an order; unique unless `loose`."""
    digest_of: str | None = None
    """A text some databases find by its digest, which goes as one more value at the end of a row."""
    later: bool = False
    """The last column of rows that are there already, where it has a value."""
    loose: bool = False
    """Several rows may have one key; they go together."""

    @property
    def own(self) -> tuple[str, ...]:
        """Keys of rows that are not copied."""
        return OWN_NOTES if self.table == "notes" else ()

    def key_of(self, row: Row) -> Key:
        names = [column.name for column in self.columns]
        found = (row[names.index(name)] for name in self.key)
        return tuple(value for value in found if isinstance(value, str | int))


def _part(
    name: str, columns: str, *, key: str = "id", digest_of: str | None = None, loose: bool = False
) -> Part:
    table, _, column = name.partition(".")
    named = (word.partition(":") for word in columns.split())
    return Part(
        name=name,
        table=table,
        columns=tuple(Column(one, Kind(kind)) for one, _, kind in named),
        key=tuple(key.split()),
        digest_of=digest_of,
        later=bool(column),
        loose=loose,
    )


PARTS: tuple[Part, ...] = (
    _part(
        "sources",
        "id:int key:text kind:text name:text version:text location:text params:json status:text"
        " active_generation:int last_generation:int held_generation:int held_reason:text last_run_at:time"
        " last_success_at:time last_error_at:time last_error:text watermark:time last_processed_date:date"
        " consecutive_failures:int metadata:json created_at:time every_s:real paused:flag last_result:json"
        " held_at:time paused_at:time paused_by:text pinned_at:time pinned_by:text",
    ),
    _part(
        "runs",
        "id:int source_id:int mode:text status:text generation:int stop_reason:text started_at:time"
        " finished_at:time counters:json error:text owner:text window:json",
    ),
    _part("run_items", "id:int run_id:int reference:text outcome:text reason:text detail:text"),
    _part("run_shares", "run_id:int counters:json", key="run_id", loose=True),
    _part(
        "generations",
        "source_id:int number:int run_id:int activated_at:time documents:int",
        key="source_id number",
    ),
    _part(
        "verifications",
        "source_id:int at:time way:text exceptions:json rates:json learnt_at:time looks:bytes",
        key="source_id",
    ),
    _part("pages_shown", "source_id:int at:time counts:json", key="source_id"),
    _part(
        "claims",
        "source_id:int signal:text claims:int checked:int lies:int told:int alarms:int held:int runs:int"
        " turns:int falls:int lied_at:time lied_about:text checked_at:time",
        key="source_id signal",
    ),
    _part(
        "activations",
        "id:int source_id:int generation:int previous:int run_id:int at:time cause:text actor:text"
        " documents:int",
    ),
    _part("removals", "id:int name:text version:text kind:text generation:int at:time"),
    _part(
        "listings",
        "id:int source_id:int url:text etag:text last_modified:text payload:json",
        digest_of="url",
    ),
    _part(
        "inventory",
        "id:int source_id:int words:text name:text kind:text page:text anchor:text",
        digest_of="page",
    ),
    _part("refs", "id:int source_id:int reference:text", digest_of="reference"),
    _part("refs.alias_of", "id:int alias_of:int"),
    _part(
        "page_changes",
        "ref_id:int source_id:int changes:real changed_s:real unchanged_s:real",
        key="ref_id",
    ),
    _part("contents", "id:int hash:bytes text:text sectioned:flag"),
    _part("records", "id:int hash:bytes body:bytes"),
    _part("record_keys", "record_id:int key:int", key="record_id", loose=True),
    _part("document_records", "ref_id:int payload_hash:bytes record_id:int", key="ref_id", loose=True),
    _part("passages", "id:int hash:bytes heading_path:text text:text chars:int"),
    _part(
        "sections",
        "content_id:int position:int level:int parent:int heading:text anchor:text start_at:int end_at:int"
        " passage_id:int link_share:int form:text symbol:text symbol_kind:text symbol_words:text kept:bytes",
        key="content_id position",
    ),
    _part("models", "id:int name:text digest:text dimensions:int"),
    _part("vectors", "passage_id:int model_id:int vector:bytes", key="passage_id model_id"),
    _part(
        "documents",
        "id:int source_id:int ref_id:int content_id:int url:text title:text metadata:json content_type:text"
        " etag:text last_modified:text body_hash:bytes payload_hash:bytes depth:int links:bytes"
        " fetched_at:time born:int died:int body_bytes:int",
    ),
    _part(
        "handoffs",
        "id:int source_id:int ref_id:int payload_hash:bytes content_id:int run_id:int generation:int"
        " status:text reason_code:text attempts:int last_error:text created_at:time updated_at:time"
        " retry_at:time",
    ),
    _part(
        "drafts",
        "handoff_id:int url:text title:text metadata:json content_type:text etag:text last_modified:text"
        " body_hash:bytes body_bytes:int depth:int links:bytes",
        key="handoff_id",
    ),
    _part("notes", "name:text value:json", key="name"),
    _part("pauses", "upstream:text until:time reason:text", key="upstream"),
    _part(
        "sinks",
        "name:text kind:text settings:json activation:int item:int state:json last_run_at:time"
        " last_success_at:time last_error:text failures:int",
        key="name",
    ),
    _part("tokens", "id:int name:text digest:bytes scope:text created_at:time last_used_at:time"),
    _part(
        "sync_requests",
        "source_id:int number:int only:json full:flag reason:text requested_at:time",
        key="source_id",
    ),
    _part("companies", "id:int name:text website:text resolution:text resolution_at:time"),
    _part("company_keys", "company_id:int key:text", key="company_id key", digest_of="key"),
    _part("companies_merged", "id:int company_id:int"),
    _part(
        "offers",
        "id:int provider:text external_id:text company_id:int title:text place:text url:text posted_at:time"
        " updated_at:time content_hash:bytes fingerprint:bytes first_seen_at:time last_seen_at:time"
        " closed_at:time",
        digest_of="external_id",
    ),
    _part("offers.repost_of", "id:int repost_of:int"),
    _part(
        "offer_sightings",
        "id:int offer_id:int source_id:int reference:text gone_at:time",
        digest_of="reference",
    ),
    _part(
        "projections",
        "name:text activation:int item:int last_offer_id:int last_company_id:int",
        key="name",
    ),
)
"""In an order in which a row comes after the rows it points at."""

TABLES = tuple(part.table for part in PARTS if not part.later)


@dataclass(frozen=True, slots=True)
class Sum:
    """How many rows, and a digest of all of them that does not depend on their order."""

    rows: int = 0
    digest: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.rows + other.rows, (self.digest + other.digest) % _ROOM)

    @property
    def hex(self) -> str:
        return f"{self.digest:064x}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    rows: Sequence[Row]
    last: Key | None
    """The key of the last row; None when there are no more rows."""
    sum: Sum


def page_of(part: Part, rows: Iterable[Row], *, max_rows: int, max_bytes: int) -> Page:
    """The first of these rows; the rest of them is not asked for."""
    taken: list[Row] = []
    size = 0
    for row in rows:
        enough = len(taken) >= max_rows or size >= max_bytes
        if enough and not (part.loose and part.key_of(row) == part.key_of(taken[-1])):
            break
        taken.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
    return Page(rows=taken, last=part.key_of(taken[-1]) if taken else None, sum=sum_of(part, taken))


def sum_of(part: Part, rows: Iterable[Row]) -> Sum:
    count = total = 0
    for row in rows:
        text = json.dumps(canonical(part, row), ensure_ascii=False)
        total += int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
        count += 1
    return Sum(count, total % _ROOM)


def canonical(part: Part, row: Row) -> tuple[str | None, ...]:
    """The row as text, the same whichever database it comes from."""
    return tuple(
        None if value is None else _canonical(column.kind, value)
        for column, value in zip(part.columns, row, strict=False)
    )


def _canonical(kind: Kind, value: Any) -> str:
    match kind:
        case Kind.TEXT:
            # Not every database has NUL in texts; the ones that do not keep this in its place.
            return str(value).replace("\0", "\ufffd")
        case Kind.BYTES:
            return bytes(value).hex()
        case Kind.TIME:
            return datetime.fromisoformat(value).astimezone(UTC).isoformat(timespec="microseconds")
        case Kind.JSON:
            return _canonical_json(value)
        case Kind.REAL:
            return repr(float(value))
        case Kind.FLAG:
            return str(int(value))
    return str(value)


def _canonical_json(text: str) -> str:
    import orjson

    return orjson.dumps(_plain(orjson.loads(text)), option=orjson.OPT_SORT_KEYS).decode()


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key.replace("\0", "\ufffd"): _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case str():
            return value.replace("\0", "\ufffd")
        case float():
            return _number(value)
    return value


def _number(value: float) -> Any:
    """A database that keeps numbers as decimals gives 1e+16 back as 10000000000000000."""
    import orjson

    text = f"{Decimal(repr(value)):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return orjson.Fragment("0" if text == "-0" else text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a copy has come, as the store that is being made remembers it."""

    identity: str
    """Of the store it is a copy of."""
    name: str
    """Where that store was, as it may be shown."""
    started_at: datetime
    part: str = PARTS[0].name
    """The part that is being copied."""
    after: Key | None = None
    """The last key of it that is there."""
    sums: Mapping[str, Sum]
    """Of what was read so far, by part."""
    wrong: bool = False
    """The finished copy was compared and differed: the next attempt starts over."""
    completed_at: datetime | None = None

    def note(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "name": self.name,
            "started_at": self.started_at.isoformat(),
            "part": self.part,
            # JSON inside the JSON: databases change some characters of a text, but none of these.
            "after": None if self.after is None else json.dumps(self.after),
            "sums": {name: [one.rows, one.hex] for name, one in self.sums.items()},
            "wrong": self.wrong,
            "complete": self.completed_at is not None,
            "completed_at": self.completed_at.isoformat() if self.completed_at else None,
        }


def progress_from(note: Mapping[str, Any]) -> Progress:
    at = note["completed_at"]
    return Progress(
        identity=note["identity"],
        name=note["name"],
        started_at=datetime.fromisoformat(note["started_at"]),
        part=note["part"],
        after=None if note["after"] is None else tuple(json.loads(note["after"])),
        sums={name: Sum(rows, int(digest, 16)) for name, (rows, digest) in note["sums"].items()},
        wrong=note["wrong"],
        completed_at=datetime.fromisoformat(at) if at else None,
    )


def differences(expected: Mapping[str, Sum], found: Mapping[str, Sum]) -> Sequence[str]:
    """What differs, part by part, in words."""
    said = []
    for part in PARTS:
        wanted, there = expected.get(part.name, Sum()), found.get(part.name, Sum())
        if wanted.rows != there.rows:
            said.append(f"`{part.name}` has {there.rows:,} of {wanted.rows:,} rows")
        elif wanted != there:
            said.append(f"`{part.name}` has {there.rows:,} rows, not all of them the same")
    return said
