"""`rowen companies`: companies that have job listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import clean

if TYPE_CHECKING:
    from rowen.core.offers.company import Company
    from rowen.engine.ports import Ports

PLACES = 3
"""As many as fit in a row."""


@store_command("companies")
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
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="At most this many.")
async def command(
    call: Call, ports: Ports, query: str | None, sources: tuple[str, ...], min_open: int, limit: int
) -> None:
    """Show companies, those with the most open job listings first.

    QUERY is a part of a name, in any spelling, or of a website.
    """
    from rowen.doors.shapes import documents as shapes
    from rowen.doors.words import ago
    from rowen.managing.find import choose_all
    from rowen.offers import companies

    wanted = [source.id for source in await choose_all(ports.store, sources)]
    found = await companies.listed(
        ports.store, query=query, min_open=min_open, source_ids=wanted or None, limit=limit
    )
    if call.out.json:
        call.out.emit(shapes.Companies.show(companies=found))
        return
    if not found:
        call.out.line("no companies")
        if query is None and not sources and not min_open:
            call.out.note("hint: add a job board with `rowen add`; companies come with its job listings")
        return
    from rich.text import Text

    now = ports.clock.now()
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
