"""`rowen companies`: who is hiring, as far as the offers of job boards tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, clean

if TYPE_CHECKING:
    from rowen.core.offers.company import Company
    from rowen.engine.ports import Ports

PLACES = 3
"""As many as fit in a row."""


@rowen_command("companies", short_help="Show the companies behind the offers of job boards.")
@click.argument("query", required=False)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Only companies with an offer in this source; repeatable.",
)
@click.option(
    "--min-open", default=0, type=click.IntRange(0), metavar="N", help="Only with so many open offers."
)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="At most so many.")
def command(call: Call, query: str | None, sources: tuple[str, ...], min_open: int, limit: int) -> int:
    """Show companies, those with the most open offers first.

    QUERY is a part of a name, however it is spelt, or of a website.
    """
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.doors import shapes
        from rowen.managing.find import choose
        from rowen.offers import companies

        wanted = [await choose(ports, name) for name in sources]
        found = await companies.listed(
            ports,
            query=query,
            min_open=min_open,
            source_ids=[source.id for source in wanted] or None,
            limit=limit,
        )
        if call.out.json:
            call.out.emit(shapes.Companies.show(companies=found))
        elif found:
            _table(ports, call.out, found)
        else:
            call.out.line("no companies")
            if query is None and not sources and not min_open:
                call.out.note("hint: they come with the offers of job boards: add one with `rowen add`")

    session.run(call, work)
    return 0


def _table(ports: Ports, out: Output, companies: list[Company]) -> None:
    from rich.table import Table
    from rich.text import Text

    from rowen.doors.cli.words import ago

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("company")
    for name in ("open", "ever", "reposts", "a month"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("places")
    table.add_column("last news", no_wrap=True)
    table.add_column("resolution")
    now = ports.clock.now()
    for company in companies:
        rest = len(company.places) - PLACES
        places = ", ".join(company.places[:PLACES]) + (f" and {rest} more" if rest > 0 else "")
        table.add_row(
            str(company.id),
            Text(clean(company.name), style="bold"),
            f"{company.open_offers:,}",
            f"{company.offers:,}",
            f"{company.reposts:,}",
            f"{company.posting_rate:g}",
            clean(places),
            ago(company.last_seen_at, now),
            clean(company.resolution),
        )
    out.print(table)
