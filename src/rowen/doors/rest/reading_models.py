"""What readers get, described: documents, hits, changes. The other half of `models.py`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from rowen.doors.rest.models import Time


class SectionHit(BaseModel):
    heading_path: str
    url: str
    snippet: str
    score: float


class Hit(BaseModel):
    document_id: int
    source: str
    version: str
    url: str = Field(description="With the anchor of the best section")
    title: str
    heading_path: str
    snippet: str = Field(description="Matched words stand between « and »")
    score: float
    generation: int
    fetched_at: Time
    sections: list[SectionHit] = Field(description="Other sections of the document that matched")


class Answer(BaseModel):
    query: str
    mode: str = Field(description="The mode that answered")
    degraded: str | None = Field(description="Why vectors could not be used, when they were wanted")
    hits: list[Hit]
    limit: int
    offset: int


DOCUMENT_EXAMPLE: dict[str, JsonValue] = {
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
}


class Document(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [DOCUMENT_EXAMPLE]})

    id: int = Field(description="Of this version; another version has another")
    source: str
    kind: str
    reference: str
    url: str
    title: str
    metadata: dict[str, Any]
    content_type: str
    content_hash: str
    generation: int = Field(description="The one readers see")
    born: int = Field(description="The generation this version came with")
    fetched_at: Time


class Documents(BaseModel):
    source: str
    documents: list[Document]
    next: str | None = Field(description="Give it as `after` to go on; null at the end")


class Section(BaseModel):
    position: int
    heading_path: str
    anchor: str | None
    url: str
    text: str


class WholeDocument(Document):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{**DOCUMENT_EXAMPLE, "text": "# Install", "sections": []}]}
    )

    text: str
    sections: list[Section]


class Touched(BaseModel):
    cursor: str
    source: str
    kind: str
    generation: int
    reference: str
    change: str = Field(description="`added`, `changed` or `removed`, as readers see it now")
    at: Time
    document: Document | None = Field(description="Null when readers do not see it any more")


class Changes(BaseModel):
    changes: list[Touched]
    cursor: str = Field(description="Give it as `since` to go on; state, not history: repeats do no harm")


class Health(BaseModel):
    status: str


class Company(BaseModel):
    company_id: int
    name: str
    website: str | None
    open_offers: int
    offers: int = Field(description="Ever")
    reposts: int
    posting_rate: float = Field(description="New ones a month")
    places: list[str]
    first_seen_at: Time | None
    last_seen_at: Time | None
    resolution: str = Field(description="What people wrote about it")


class Offer(BaseModel):
    offer_id: int
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
    open: bool
    repost_of: int | None
    sources: list[str]


class Companies(BaseModel):
    companies: list[Company]


class CompanyWithOffers(BaseModel):
    company: Company
    offers: list[Offer]
