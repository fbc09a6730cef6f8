"""Companies, as far as the offers of job boards tell."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from rowen.core.safety.access import Scope
from rowen.doors import views
from rowen.doors.rest import reading_models as models
from rowen.doors.rest.guard import needs
from rowen.doors.rest.params import MAX_OFFSET, Limit
from rowen.doors.rest.problems import declared
from rowen.engine.ports import Ports
from rowen.managing.find import choose
from rowen.offers import companies

Name = Annotated[str | None, Query(description="A part of a name, however it is spelt, or of a website")]
Names = Annotated[list[str], Query(alias="source", description="Only with an offer in these sources")]
MinOpen = Annotated[int, Query(description="Only with so many open offers", ge=0, le=MAX_OFFSET)]
NameOrId = Annotated[str, Path(description="An id, or a name that fits one company", max_length=500)]


def router(ports: Ports) -> APIRouter:
    api = APIRouter(prefix="/companies", tags=["reading"])

    @api.get(
        "",
        summary="Companies, those with the most open offers first",
        response_model=models.Companies,
        responses=declared(404),
        dependencies=[needs(Scope.READ)],
    )
    async def list_companies(
        q: Name = None,
        names: Names = [],  # noqa: B006 - the framework makes a new one for each call
        min_open: MinOpen = 0,
        limit: Limit = 100,
    ) -> Any:
        wanted = [await choose(ports, name) for name in names]
        found = await companies.listed(
            ports,
            query=q,
            min_open=min_open,
            source_ids=[source.id for source in wanted] or None,
            limit=limit,
        )
        return {"companies": [views.company(one) for one in found]}

    @api.get(
        "/{company}",
        summary="One company with its offers",
        response_model=models.CompanyWithOffers,
        responses=declared(404),
        dependencies=[needs(Scope.READ)],
    )
    async def get_company(company: NameOrId) -> Any:
        """The id of a company that turned out to be another one leads to that one."""
        found = await companies.find(ports, company)
        offers = await ports.store.offers_of(found.id)
        return {"company": views.company(found), "offers": [views.offer(one) for one in offers]}

    return api
