"""What goes in and out of the REST door, described: the shapes that `doors/views.py` makes, and no others.

A test holds the two together. Inside, values are the frozen dataclasses of `core`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]

RUN_EXAMPLE: dict[str, JsonValue] = {
    "source": "docs",
    "run_id": 12,
    "mode": "incremental",
    "status": "completed",
    "generation": 3,
    "created": 1,
    "updated": 2,
    "unchanged": 524,
    "requests": 527,
    "not_modified": 524,
    "embeddings_computed": 4,
    "stop_reason": "exhausted",
    "duration_s": 4.2,
    "error": None,
}


class Counters(BaseModel):
    """What a run did and what it avoided."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0
    skipped: int = Field(default=0, description="Stored and found by its words; its vectors are to come")
    pages: int = Field(default=0, description="Of a listing that comes in pages")
    requests: int = 0
    rate_limited: int = 0
    not_modified: int = 0
    bytes_received: int = 0
    reads: int = Field(default=0, description="Files that were opened")
    retries: int = 0
    redirects: int = 0
    parses: int = 0
    same_body: int = 0
    same_content: int = 0
    validators_refreshed: int = 0
    passages_reused: int = 0
    passages_new: int = 0
    embeddings_computed: int = 0
    embeddings_reused: int = 0
    ignored: dict[str, int] = Field(default={}, description="Items met and not asked for, by reason")


class Run(Counters):
    """One execution of a source; while it runs, its counters are a few seconds old."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **RUN_EXAMPLE,
                    "started_at": "2026-05-01T12:00:00+00:00",
                    "finished_at": "2026-05-01T12:00:04.200000+00:00",
                    "owner": "host:4711:1",
                    "window": None,
                }
            ]
        }
    )

    source: str
    run_id: int
    mode: str = Field(description="`full` or `incremental`")
    status: str = Field(
        description="`running`, `completed`, `partial`, `held`, `failed`, `cancelled`, `lost`"
    )
    generation: int = Field(description="What readers saw when it ended; while it runs, the one it builds")
    stop_reason: str | None
    started_at: Time
    finished_at: Time | None
    duration_s: float | None
    error: str | None
    owner: str
    window: dict[str, Any] | None = Field(default=None, description="The stretch of time it asked for")


class Receipt(Counters):
    """What a run did, and what became of its handoffs."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **RUN_EXAMPLE,
                    "held_generation": None,
                    "hint": None,
                    "scrape_run_id": 12,
                    "handoff_queued_count": 3,
                    "handoff_completed_count": 3,
                    "handoff_failed_count": 0,
                    "handoff_skipped_count": 0,
                }
            ]
        }
    )

    source: str
    run_id: int
    mode: str
    status: str
    generation: int
    stop_reason: str | None
    held_generation: int | None
    error: str | None
    hint: str | None
    duration_s: float | None
    scrape_run_id: int = Field(description="The same as `run_id`")
    handoff_queued_count: int = Field(description="Changed items that were handed to ingestion")
    handoff_completed_count: int = Field(description="Of them: ingested whole")
    handoff_failed_count: int = Field(description="Of them: given up")
    handoff_skipped_count: int = Field(
        description="Of them: stored without vectors, which are filled in later"
    )


class Begun(BaseModel):
    """A run that was asked for and not waited for."""

    source: str
    state: str = Field(description="`running`, or `queued` while other runs are under way")
    scrape_run_id: int | None = Field(description="Known as soon as it runs")
    location: str = Field(description="Where to look; also the header `Location`")


class Source(BaseModel):
    """A source, how much of it readers see, and the state it is in."""

    name: str
    version: str
    label: str = Field(description="`name`, or `name@version`: what the paths of this API take")
    kind: str
    location: str
    status: str = Field(description="`IDLE`, `RUNNING`, `SUCCESS` or `ERROR`")
    generation: int = Field(description="What readers see; 0 before the first harvest")
    held_generation: int | None
    held_reason: str | None
    documents: int
    sections: int
    last_run_at: Time | None
    last_success_at: Time | None
    last_error_at: Time | None
    last_error: str | None
    last_processed_date: Day | None
    watermark: Time | None
    consecutive_failures: int
    every_s: float | None
    paused: bool = Field(description="By a person, until a person resumes it")
    client_paused_until: Time | None = Field(description="Whoever answers it has asked to be left alone")
    stopped: bool = Field(description="Its settings or credentials are wrong; it waits for `resume`")
    running: bool


class Sources(BaseModel):
    sources: list[Source]


class Status(Sources):
    embedding: dict[str, Any] = Field(description="The model search uses, and what is missing")


class NewSource(BaseModel):
    """A source to add. Its server is asked first; private addresses are refused."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "location": "https://docs.example.org/3.12/",
                    "name": "example",
                    "version": "3.12",
                    "settings": {"max_depth": "3", "include": "/3.12/library/**"},
                    "every": "6h",
                }
            ]
        },
    )

    location: str = Field(
        min_length=1, max_length=2000, description="An address, or a folder that is allowed"
    )
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: str | None = Field(default=None, max_length=64, description="Found out when left away")
    version: str = Field(default="", pattern=r"^([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?$")
    settings: dict[str, str] = Field(default={}, description="As `rowen add --set` takes them")
    every: str | None = Field(default=None, max_length=32, description="`15m`, `6h`, `1d`, `weekly`")


class Added(BaseModel):
    source: str
    kind: str
    location: str
    key: str
    settings: dict[str, Any]
    findings: list[str] = Field(description="What its server said, in sentences")


class Paused(BaseModel):
    source: str
    paused: bool


class Removed(BaseModel):
    source: str
    removed: bool
    documents: int


class Runs(BaseModel):
    runs: list[Run]


class Item(BaseModel):
    reference: str
    outcome: str
    reason: str
    detail: str | None


class Items(BaseModel):
    run_id: int
    items: list[Item]
    unlisted: dict[str, int] = Field(description="Unchanged items, by reason: they leave no row")


class Generation(BaseModel):
    generation: int
    run_id: int
    activated_at: Time | None = Field(description="Null while it is held")
    documents: int
    active: bool


class Generations(BaseModel):
    source: str
    generations: list[Generation]


class Change(BaseModel):
    kind: str = Field(description="`added`, `changed` or `removed`")
    reference: str
    url: str
    title: str
    headings_added: list[str]
    headings_removed: list[str]


class Diff(BaseModel):
    source: str
    from_generation: int
    to_generation: int
    changes: list[Change]


class Shown(BaseModel):
    source: str
    generation: int = Field(description="What readers see now")


class Rollback(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"to": 2}, {}]})

    to: int | None = Field(default=None, ge=1, le=2**31, description="The one before, when left away")


class Handoff(BaseModel):
    id: int
    source: str
    reference: str
    payload_hash: str
    run_id: int
    generation: int
    status: str
    reason_code: str
    attempts: int
    last_error: str | None
    created_at: Time
    updated_at: Time


class Handoffs(BaseModel):
    handoffs: list[Handoff]
    limit: int
    offset: int
