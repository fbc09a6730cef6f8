"""Companies that have job listings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from rowen.doors.rest.operation import MAX_OFFSET, Limit, answers, operations
from rowen.doors.shapes import documents as shapes
from rowen.engine.ports import Ports
from rowen.managing.find import choose_all
from rowen.offers import companies

Name = Annotated[str | None, Query(description="A part of a name, in any spelling, or of a website")]
Names = Annotated[list[str], Query(alias="source", description="Only with a job listing in these sources")]
MinOpen = Annotated[
    int, Query(description="Only with at least this many open job listings", ge=0, le=MAX_OFFSET)
]
NameOrId = Annotated[str, Path(description="An id, or a name that fits one company", max_length=500)]


def router(ports: Ports) -> APIRouter:
    api = operations("/companies", "reading")

    @api.get(
        "", summary="Companies, those with the most open job listings first", **answers(shapes.Companies, 404)
    )
    async def list_companies(
        q: Name = None,
        names: Names = [],  # noqa: B006 - the framework makes a new one for each call
        min_open: MinOpen = 0,
        limit: Limit = 100,
    ) -> Any:
        wanted = await choose_all(ports.store, names)
        found = await companies.listed(
            ports.store,
            query=q,
            min_open=min_open,
            source_ids=[source.id for source in wanted] or None,
            limit=limit,
        )
        return shapes.Companies.show(companies=found)

    @api.get(
        "/{company}", summary="One company with its job listings", **answers(shapes.CompanyWithOffers, 404)
    )
    async def get_company(company: NameOrId) -> Any:
        """The id of a company that was merged into another one leads to that one."""
        found = await companies.find(ports.store, company)
        return shapes.CompanyWithOffers.show(company=found, offers=await ports.store.offers_of(found.id))

    return api
