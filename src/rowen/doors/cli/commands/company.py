"""`rowen company`: one company, what is known about it, and its job listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import Output, clean

if TYPE_CHECKING:
    from datetime import datetime

    from rowen.core.offers.company import Company
    from rowen.core.offers.offer import Offer
    from rowen.engine.ports import Ports


@store_command("company")
@click.argument("name_or_id")
async def command(call: Call, ports: Ports, name_or_id: str) -> None:
    """Show the company NAME_OR_ID with its job listings, open ones first.

    The id of a company that was merged into another one leads to that one.
    """
    from rowen.doors.shapes import documents as shapes
    from rowen.offers import companies

    found = await companies.find(ports.store, name_or_id)
    offers = await ports.store.offers_of(found.id)
    if call.out.json:
        call.out.emit(shapes.CompanyWithOffers.show(company=found, offers=offers))
    else:
        _show(call.out, found, offers, now=ports.clock.now())


def _show(out: Output, company: Company, offers: list[Offer], *, now: datetime) -> None:
    from rich.text import Text

    from rowen.doors.words import ago, count

    head = Text(clean(company.name), style="bold").append(f"  company {company.id}", "default")
    out.line(head.append(f"  {clean(company.website)}" if company.website else "", "dim"))
    out.line(
        f"{count(company.open_offers, 'open job listing')}, {company.offers:,} ever, "
        f"{count(company.reposts, 'repost')}, {company.posting_rate:g} new ones a month"
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
