"""What would become of one page, as JSON."""

from __future__ import annotations

from rowen.core.section import join_path
from rowen.doors.shapes.documents import Address
from rowen.doors.shapes.shape import Shape, at


class InspectedSection(Shape):
    heading_path: str = at(lambda section: join_path(section.heading_path))
    anchor: str | None
    chars: int = at(lambda section: len(section.text))
    defines: str | None = at(lambda section: section.symbol.name if section.symbol else None)


class InspectedLink(Shape):
    url: str
    why_not: str | None
    """Null for one that a crawl would follow, else the reason"""


class InspectedRobots(Shape):
    allowed: bool
    says: str
    delay_s: float | None


class Inspection(Shape):
    known: Address | None
    """What is known of the address without asking: the copy that readers see, or that it is gone"""
    url: str
    final_url: str
    redirects: list[str]
    status: int
    content_type: str
    verdict: str
    """In one line"""
    indexed: bool = at(lambda found: found.why_not is None)
    why_not: str | None
    title: str
    canonical: str | None
    robots: InspectedRobots
    etag: str | None = at("validators.etag")
    last_modified: str | None = at("validators.last_modified")
    about_validators: str
    """What an unchanged page will cost, in words"""
    body_bytes: int
    bytes_received: int
    sections: int = at(lambda found: len(found.sections))
    section_list: list[InspectedSection] = at("sections")
    passages: int
    links: list[InspectedLink]
    links_left_out: int
    """Links behind the first ones, which are not listed"""
    words: int = at("page_words")
    """Of the whole page, navigation included"""
    words_left_out: int = at("cut_words")
    left_out: list[str] = at("cut")
    """Blocks of the page that are not in the Markdown, the first of them"""
    markdown: str
