"""The shapes of sources, their generations, and the sinks that are sent what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.doors.shapes.shape import Day, Shape, Time, at

if TYPE_CHECKING:  # a command that only reads must not load the modules that fetch
    from rowen.doors.states import SourceStatus


class Claims(Shape):
    """A signal that says "unchanged", and how far that was true."""

    signal: str = at(lambda one: one.signal.value)
    """`lastmod`, `etag`, `last_modified` or `listing`"""
    standing: str = at(lambda one: one.record.standing.value)
    """`trusted`, `unproven` or `distrusted`"""
    why: str = at("record.why")
    claims: int = at("record.claims")
    """How often it said "unchanged", since it is checked"""
    checked: int = at("record.checked")
    """How many of these were compared with the text"""
    lies: int = at("record.lies")
    """Of the checked: the text was another one, or gone"""
    told: int = at("record.told")
    """How often it said "changed", and it had"""
    alarms: int = at("record.alarms")
    """How often it said "changed" of a text that was as before"""
    checked_at: Time | None = at("record.checked_at")
    lied_at: Time | None = at("record.lied_at")
    lied_about: str | None = at("record.lied_about")
    """What it lied about last"""


class Source(Shape):
    """A source, how much of it readers see, and the state it is in."""

    name: str
    version: str
    label: str
    """`name`, or `name@version`: what the paths of this API take"""
    key: str
    """Kind, name and a hash of the settings that decide what is fetched"""
    kind: str
    location: str
    status: str
    """`IDLE`, `RUNNING`, `SUCCESS` or `ERROR`"""
    state: str = at("standing.state")
    """`up to date`, `running`, `partial`, `waiting`, `paused`, `held`, `stopped` or `never run`"""
    state_text: str = at("standing.says")
    """Why it is in this state, in words"""
    state_since: Time | None = at("standing.since")
    state_by: str | None = at("standing.by")
    """Who paused or pinned it, in words: a token, the command line, the API"""
    state_hint: str | None = at("standing.hint")
    """The next step, for a person"""
    loudness: str = at("standing.loudness")
    """`quiet`, `notice` or `alarm`: what waits for a person gets louder after one day and after three"""
    next_run_at: Time | None = at(lambda one: one.next_run and one.next_run.at)
    """When `rowen serve` runs it next; null while it waits for a person"""
    next_run_text: str | None = at(lambda one: one.next_run and one.next_run.why)
    """Why then, in words"""
    served: bool
    """False when no `rowen serve` looks after the store: then nothing runs by schedule"""
    generation: int = at("active_generation")
    """What readers see; 0 before the first harvest"""
    kept_since: Time | None
    """From when on what readers saw can be searched and shown again; null before the first harvest"""
    held_generation: int | None
    held_reason: str | None
    held_at: Time | None
    """Since when its runs end held"""
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
    last_mode: str | None = at(lambda one: one.result and one.result.mode)
    """`full` or `incremental`; null before any run"""
    last_processed: int = at(lambda one: one.result.processed if one.result else 0)
    """Items that the last run looked at, with every outcome"""
    last_bytes_received: int = at(lambda one: one.result.bytes_received if one.result else 0)
    last_bytes_avoided: int = at(lambda one: one.result.bytes_avoided if one.result else 0)
    """Bodies that the last run did not have sent or read again, as far as their sizes are known"""
    last_failed: int = at(lambda one: one.result.failed if one.result else 0)
    """Items that failed in the last run; what was visible of them stays"""
    last_processed_date: Day | None
    watermark: Time | None
    consecutive_failures: int
    every_s: float | None = at(lambda one: one.own_every_s)
    """Its own interval; null for the common one"""
    every_auto: bool = at(lambda one: one.is_auto)
    """The interval is chosen by how fast its pages change (`every = "auto"`)"""
    paused: bool
    """By a person, until a person resumes it"""
    paused_at: Time | None
    paused_by: str | None
    """`cli`, `api`, `python`, `web`, or `token NAME`"""
    pinned: bool = at("is_pinned")
    """A person said that readers stay at this generation: it is not synced until it is resumed"""
    pinned_at: Time | None
    pinned_by: str | None
    client_paused_until: Time | None = at(lambda one: one.upstream_pause and one.upstream_pause.until)
    """Its upstream asked not to be called before"""
    stopped: bool = at("is_broken")
    """Its settings or credentials are wrong; it waits for `resume`"""
    running: bool
    left_out: dict[str, int]
    """How many items its last run left out because of a limit, by reason"""
    signals: list[Claims] = at(lambda one: one.signals)
    """What was claimed of its pages, and how far that was true; empty before anything was checked"""


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


class Activation(Shape):
    at: Time
    cause: str
    """`run`, `approval` or `rollback`"""
    by: str | None
    """Who decided it: `cli`, `api`, `python`, `web`, or `token NAME`; null for a run"""
    previous: int
    """The generation that readers saw before"""
    run_id: int | None
    documents: int | None
    """How many documents readers saw from then on"""


class Generation(Shape):
    generation: int = at("generation.number")
    run_id: int = at("generation.run_id")
    activated_at: Time | None = at("generation.activated_at")
    """Null while it is held"""
    documents: int = at("generation.documents")
    active: bool = at("generation.active")
    activations: list[Activation]
    """When, why and by whom it was shown, the newest first; empty while it is held"""


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
    held: bool
    """Readers do not see the newer generation: it waits for an approval"""
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
