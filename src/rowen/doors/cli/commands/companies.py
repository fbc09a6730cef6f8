"""`rowen companies` and `rowen company`: companies that have job listings, and one of them with its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import Output, clean
from rowen.doors.cli.starting.declared import MOST, click

if TYPE_CHECKING:
    from datetime import datetime

    from rowen.core.offers.company import Company
    from rowen.core.offers.offer import Offer

PLACES = 3
"""As many as fit in a row."""


@store_command("companies", reads=True)
@click.argument("query", required=False)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Only with a job listing in this source; repeatable.",
)
@click.option(
    "--min-open",
    default=0,
    type=click.IntRange(0),
    metavar="N",
    help="Only with at least N open job listings.",
)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, MOST), help="At most this many."
)
async def command(call: Call, query: str | None, sources: tuple[str, ...], min_open: int, limit: int) -> None:
    """Show companies, those with the most open job listings first.

    QUERY is a part of a name, in any spelling, or of a website.
    """
    from rowen.doors.shapes import documents as shapes
    from rowen.doors.words import ago
    from rowen.managing.find import choose_all
    from rowen.offers import companies

    wanted = [source.id for source in await choose_all(call.ports.store, sources)]
    found = await companies.listed(
        call.ports.store, query=query, min_open=min_open, source_ids=wanted or None, limit=limit
    )
    if call.out.json:
        call.out.emit(shapes.Companies.show(companies=found))
        return
    if not found:
        call.out.line("no companies")
        if query is None and not sources and not min_open:
            call.out.note("hint: add a job board with `rowen add`; companies come with its job listings")
        return
    from rowen.doors.cli.drawing.text import Text

    now = call.ports.clock.now()
    rows = [
        (
            str(company.id),
            Text(clean(company.name), style="bold"),
            f"{company.open_offers:,}",
            f"{company.offers:,}",
            f"{company.reposts:,}",
            f"{company.posting_rate:g}",
            clean(_places(company)),
            ago(company.last_seen_at, now),
            clean(company.resolution),
        )
        for company in found
    ]
    headings = [
        ">id",
        "~company",
        ">open",
        ">ever",
        ">reposts",
        ">a month",
        "~places",
        "last news",
        "~resolution",
    ]
    call.out.table(headings, rows)


def _places(company: Company) -> str:
    rest = len(company.places) - PLACES
    return ", ".join(company.places[:PLACES]) + (f" and {rest} more" if rest > 0 else "")


@store_command("company", reads=True)
@click.argument("name_or_id")
async def company(call: Call, name_or_id: str) -> None:
    """Show the company NAME_OR_ID with its job listings, open ones first.

    The id of a company that was merged into another one leads to that one.
    """
    from rowen.doors.shapes import documents as shapes
    from rowen.offers import companies

    found = await companies.find(call.ports.store, name_or_id)
    offers = await call.ports.store.offers_of(found.id)
    if call.out.json:
        call.out.emit(shapes.CompanyWithOffers.show(company=found, offers=offers))
    else:
        _show_one(call.out, found, offers, now=call.ports.clock.now())


def _show_one(out: Output, company: Company, offers: list[Offer], *, now: datetime) -> None:
    from rowen.doors.cli.drawing.text import Text
    from rowen.doors.words import ago, count

    head = Text(clean(company.name), style="bold").append(f"  company {company.id}", "default")
    out.line(head.append(f"  {clean(company.website)}" if company.website else "", "dim"))
    out.line(
        f"{count(company.open_offers, 'open job listing')}, {company.offers:,} ever, "
        f"{count(company.reposts, 'repost')}, {company.posting_rate:g} new a month"
    )
    out.line(f"first seen {ago(company.first_seen_at, now)}, last news {ago(company.last_seen_at, now)}")
    if company.places:
        out.line(clean(f"places: {', '.join(company.places)}"))
    if company.resolution:
        out.line(clean(f"resolution: {company.resolution}"))
    if offers:
        out.line("")
    for offer in offers:
        state = ("open  ", "green") if offer.is_open else ("closed", "dim")
        line = Text(state[0], style=state[1]).append(f"  {offer.id}  {clean(offer.title)}", "default")
        line.append(f"  {clean(offer.place)}" if offer.place else "", "default")
        line.append(f"  {offer.appeared_at:%Y-%m-%d}", "dim")
        line.append(f"  repost of {offer.repost_of}" if offer.repost_of else "", "yellow")
        line.append(f"  {clean(', '.join(offer.sources))}  {clean(offer.url)}", "dim")
        out.line(line)
