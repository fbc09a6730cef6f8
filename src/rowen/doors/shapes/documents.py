"""The shapes that readers get: hits, documents, changes, companies and job listings."""

from __future__ import annotations

from typing import Annotated, Any

from rowen.doors.shapes.shape import Rounded, Shape, Time, at

Share = Annotated[float, Rounded(3)]


class SectionHit(Shape):
    heading_path: str
    url: str
    snippet: str
    matches: list[list[int]]
    """As in the hit itself"""
    score: Annotated[float, Rounded(4)]


class AlsoAt(Shape):
    document_id: int
    source: str
    version: str
    url: str


class CopyAt(Shape):
    document_id: int
    source: str
    version: str
    url: str
    title: str
    by: str
    """What tells that it is the same dataset: `identifier`, `text`, `page` or `files`"""


class Hit(Shape):
    document_id: int
    source: str
    version: str
    url: str
    """With the anchor of the best section"""
    title: str
    heading_path: str
    snippet: str
    """Plain text in one line"""
    matches: list[list[int]]
    """Where words of the question stand in the snippet: `[start, end]` in characters, the end not included"""
    score: Annotated[float, Rounded(4)]
    by_words: Share | None
    """Where its section stands among all found by words, from 0 to 1; null when it was not found by them"""
    by_meaning: Share | None
    """The same among those found by meaning"""
    generation: int
    fetched_at: Time
    verified_at: Time | None
    """When its document was last known to be right"""
    verified_by: str | None
    """How: `fetched`, `not_modified` (304), `same_body`, `same_content`, `listing`, `hook`; or null"""
    p_fresh: Annotated[float, Rounded(4)] | None
    """The estimated probability that it is current now; null while its rate of change is not known"""
    sections: list[SectionHit]
    """Other sections of the document that matched"""
    also_at: list[AlsoAt]
    """Other documents with the same text"""
    copies: list[CopyAt]
    """The same dataset on other portals"""
    defines: str | None
    """What the section defines"""
    language: str | None
    """Of the section, such as `de`; null if it is not known"""
    old_version: bool
    """The source has a newer version of this page, and the question did not name this one"""


class SourceThen(Shape):
    source: str
    generation: int | None
    """The one that answers; null when there is none"""
    since: Time | None
    """When readers began to see it"""
    until: Time | None
    """When another took its place; null while they still see it"""
    missing: str | None
    """Why nothing of this source can be answered"""


class AsOf(Shape):
    at: Time | None
    """The moment that was asked for; null when a generation was"""
    sources: list[SourceThen]


class Rechecked(Shape):
    wanted: float
    """The probability that was asked for"""
    sure: int
    """Hits that were likely enough without being asked for"""
    asked: int
    confirmed: int
    """Of the asked: as they were"""
    changed: int
    """Of the asked: with another text or other metadata; taken in unless `notes` say otherwise"""
    gone: int
    failed: int
    """Of the asked: no answer that says anything came"""
    not_asked: int
    """Hits that were not likely enough and could not be asked for"""
    notes: list[str]
    """Why, source by source"""
    says: str
    """All of it in one line, for people"""


class Answer(Shape):
    query: str
    mode: str
    """The mode that answered"""
    degraded: str | None
    """Why vectors were requested and could not be used"""
    corrected: str | None
    """What was looked for in place of what was mistyped"""
    on_topic: Annotated[float, Rounded(4)]
    """How likely the question is about something that the sources speak of"""
    fits: bool
    """False when nothing fits well, and the hits are what comes nearest"""
    as_of: AsOf | None
    """What was visible at the time that was asked for; null for what is visible now"""
    rechecked: Rechecked | None
    """What was asked for again before it was answered; null unless `fresh` was given"""
    hits: list[Hit]


class AnswerPage(Answer, schema_name="Answer"):
    limit: int
    offset: int


DOCUMENT_EXAMPLE: dict[str, Any] = {
    "id": 7,
    "source": "docs",
    "kind": "web",
    "reference": "https://docs.example.org/install",
    "url": "https://docs.example.org/install",
    "title": "Install",
    "metadata": {},
    "content_type": "text/html",
    "content_hash": "5f3a",
    "generation": 3,
    "born": 1,
    "fetched_at": "2026-01-01T12:00:00+00:00",
    "verified_at": "2026-01-02T12:00:00+00:00",
    "verified_by": "not_modified",
    "p_fresh": 0.9731,
}


class Document(Shape):
    examples = (DOCUMENT_EXAMPLE,)

    id: int
    """Of this version; another version has another"""
    source: str
    kind: str
    reference: str
    url: str
    title: str
    metadata: dict[str, Any]
    content_type: str
    content_hash: str
    generation: int
    """The one readers see"""
    born: int
    """The generation this version came with"""
    fetched_at: Time
    verified_at: Time | None
    """When it was last known to be right"""
    verified_by: str | None
    """How: `fetched`, `not_modified` (304), `same_body`, `same_content`, `listing`, `hook`; or null"""
    p_fresh: Annotated[float, Rounded(4)] | None
    """The estimated probability that it is current now; null while its rate of change is not known"""


class Documents(Shape):
    source: str
    documents: list[Document]
    next: str | None
    """Give it as `after` to continue; null at the end"""


class Section(Shape):
    position: int
    heading_path: str
    anchor: str | None
    url: str = at(lambda place: f"{place.url}#{place.anchor}" if place.anchor else place.url)
    text: str


class WholeDocument(Document):
    examples = ({**DOCUMENT_EXAMPLE, "aliases": [], "text": "# Install", "sections": []},)

    aliases: list[str]
    """Other addresses of the same page"""
    text: str = at(lambda document: document.text or "")
    sections: list[Section]


# Made outside: a field of the shape is called `at`.
_FAILED_AT = at(lambda truth: truth.failure and truth.failure.at)
_FAILURE = at(lambda truth: truth.failure and truth.failure.why)


class Address(Shape):
    examples = (
        {
            "url": "https://docs.example.org/legacy",
            "state": "gone",
            "says": "gone since 2026-01-02 12:00 UTC: the server answered 404",
            "evidence": "the server answered 404",
            "by": "http_404",
            "at": "2026-01-02T12:00:00+00:00",
            "source": "docs",
            "document_id": None,
            "p_fresh": None,
            "failed_at": None,
            "failure": None,
        },
    )

    url: str
    state: str
    """`present`, `gone` or `unknown`"""
    says: str
    """All of it in one line, for people"""
    evidence: str
    """How it is known"""
    by: str | None
    """The same for programs: a way of verification, or the reason of a removal such as `http_404`"""
    at: Time | None
    """When it was last verified, or found gone; null for an address that no run met"""
    source: str | None
    document_id: int | None
    p_fresh: Annotated[float, Rounded(4)] | None
    """The estimated probability that the copy is current now; null where that cannot be told"""
    failed_at: Time | None = _FAILED_AT
    """When it was last asked for without an answer, after `at`"""
    failure: str | None = _FAILURE


class Record(Shape):
    examples = (
        {
            "document_id": 7,
            "source": "portal",
            "reference": "rain-1",
            "url": "https://data.example.org/dataset/rain-1",
            "record": {"id": "rain-1", "title": "Rain"},
        },
    )

    document_id: int = at("id")
    source: str
    reference: str
    url: str
    record: Any
    """As the source sent it with this version"""


class Touched(Shape):
    cursor: str = at(lambda item: str(item.cursor))
    source: str
    kind: str
    generation: int
    reference: str
    """Empty when the source was removed"""
    change: str
    """`added`, `changed` or `removed`, as readers see it now; `source_removed` when the source is gone"""
    at: Time
    document: Document | None
    """Null when readers do not see it any more"""
    fields: list[str]
    """What differed in a changed document when it was stored: `text`, `title`, `url`, names of metadata"""


class Changes(Shape):
    changes: list[Touched]
    cursor: str
    """Give it as `since` to continue; state, not history: reading a change twice is harmless"""


class Company(Shape):
    company_id: int = at("id")
    name: str
    website: str | None
    open_offers: int
    offers: int
    """Ever"""
    reposts: int
    posting_rate: float
    """New ones a month"""
    places: list[str]
    first_seen_at: Time | None
    last_seen_at: Time | None
    resolution: str
    """What people wrote about it"""


class Offer(Shape):
    offer_id: int = at("id")
    provider: str
    external_id: str
    title: str
    place: str
    url: str
    posted_at: Time | None
    updated_at: Time | None
    first_seen_at: Time | None
    last_seen_at: Time | None
    closed_at: Time | None
    open: bool = at("is_open")
    repost_of: int | None
    sources: list[str]


class Companies(Shape):
    companies: list[Company]


class CompanyWithOffers(Shape):
    company: Company
    offers: list[Offer]
