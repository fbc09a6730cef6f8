"""The shapes of sources, their generations, and the sinks that are sent what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.doors.shapes.shape import Day, Shape, Time, at

if TYPE_CHECKING:  # a command that only reads must not load the modules that fetch
    from rowen.doors.states import SourceStatus


class Source(Shape):
    """A source, how much of it readers see, and the state it is in."""

    name: str
    version: str
    label: str
    """`name`, or `name@version`: what the paths of this API take"""
    kind: str
    location: str
    status: str
    """`IDLE`, `RUNNING`, `SUCCESS` or `ERROR`"""
    generation: int = at("active_generation")
    """What readers see; 0 before the first harvest"""
    held_generation: int | None
    held_reason: str | None
    documents: int
    sections: int
    last_run_at: Time | None
    last_success_at: Time | None
    """The end of its last run that brought everything: a partial or cancelled one does not move it"""
    last_error_at: Time | None
    last_error: str | None
    last_outcome: str | None = at(lambda one: one.result and one.result.state)
    """`completed`, `capped`, `partial`, `held`, `failed`, `cancelled`, `interrupted`; null before any run"""
    last_outcome_text: str | None = at(lambda one: one.result and one.result.words)
    """What the last run did not bring, in words; null when everything came"""
    last_failed: int = at(lambda one: one.result.failed if one.result else 0)
    """Items that failed in the last run; what was visible of them stays"""
    last_processed_date: Day | None
    watermark: Time | None
    consecutive_failures: int
    every_s: float | None
    paused: bool
    """By a person, until a person resumes it"""
    client_paused_until: Time | None = at(lambda one: one.upstream_pause and one.upstream_pause.until)
    """Its upstream asked not to be called before"""
    stopped: bool = at("is_broken")
    """Its settings or credentials are wrong; it waits for `resume`"""
    running: bool
    left_out: dict[str, int]
    """How many items its last run left out because of a limit, by reason"""


class Sources(Shape):
    sources: list[Source]


class Status(Sources):
    embedding: dict[str, Any]
    """The model search uses, and what is missing"""


class Added(Shape):
    source: str = at("label")
    kind: str
    location: str
    key: str
    settings: dict[str, Any] = at("params")
    findings: list[str]
    """What its server said, in sentences"""


class Paused(Shape):
    source: str
    paused: bool


class Removed(Shape):
    source: str
    removed: bool
    documents: int


class Generation(Shape):
    generation: int = at("number")
    run_id: int
    activated_at: Time | None
    """Null while it is held"""
    documents: int
    active: bool


class Generations(Shape):
    source: str
    generations: list[Generation]


class Change(Shape):
    kind: str
    """`added`, `changed` or `removed`"""
    reference: str
    url: str
    title: str
    headings_added: list[str]
    headings_removed: list[str]
    fields: list[str]
    """What differs in a changed document: `text`, `title`, `url`, then names of its metadata"""


class Diff(Shape):
    source: str
    from_generation: int
    to_generation: int
    changes: list[Change]


class Shown(Shape):
    source: str
    generation: int
    """What readers see now"""


class Health(Shape):
    status: str


class Sink(Shape):
    name: str
    kind: str
    sources: list[str] = at(lambda sink: sink.settings.get("sources", ()))
    cursor: str = at(lambda sink: str(sink.cursor))
    waiting: int
    more: bool
    until: Time | None
    disabled: bool
    last_run_at: Time | None
    last_success_at: Time | None
    last_error: str | None
    failures: int


class Announced(Shape):
    sink: str
    kind: str
    outcome: str
    sent: int
    until: Time | None
    error: str | None = at(lambda one: one.error and one.error.message)
    hint: str | None = at(lambda one: one.error and one.error.hint)


def source(one: SourceStatus) -> dict[str, Any]:
    return Source.show(one, one.source)
