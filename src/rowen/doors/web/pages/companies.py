"""`/companies`: companies that have job listings, and one of them with its listings."""

from __future__ import annotations

from rowen.doors.shapes import documents as shapes
from rowen.doors.web.visit import ROWS, Page, Visit
from rowen.offers import companies as offers


async def companies(visit: Visit) -> Page:
    """Those with the most open listings first."""
    query = visit.asked("q")[:200]
    found = await offers.listed(visit.ports.store, query=query or None, limit=ROWS)
    data = {
        "query": query,
        "companies": [{**shapes.Company.show(one), "seen_at": one.last_seen_at} for one in found],
        "more": len(found) == ROWS,
    }
    return Page(template="companies", title="Companies", data=data, tab="companies")


async def company(visit: Visit) -> Page:
    found = await offers.find(visit.ports.store, visit.part("company"))
    listed = await visit.ports.store.offers_of(found.id)
    data = {
        "company": {**shapes.Company.show(found), "seen_at": found.last_seen_at},
        "offers": [
            {**shapes.Offer.show(one), "posted": one.posted_at or one.first_seen_at, "closed": one.closed_at}
            for one in listed[:ROWS]
        ],
        "total": len(listed),
    }
    return Page(template="company", title=found.name, data=data, tab="companies")
