"""`rowen inspect`: what Rowen would make of one page."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean, clean_text
from rowen.doors.cli.starting.declared import click
from rowen.errors import BadLocation

if TYPE_CHECKING:
    from rowen.config import Config
    from rowen.core.freshness.truth import Truth
    from rowen.managing.inspect import Inspection

CUT_SHOWN = 5


@rowen_command("inspect")
@click.argument("url")
@click.option("--source", metavar="NAME", shell_complete=source_names, help="By the settings of this source.")
@click.option("--text", is_flag=True, help="Also the Markdown that would be stored.")
def command(call: Call, url: str, source: str | None, text: bool) -> int:
    """Request the page at URL and show what Rowen would make of it. Nothing is stored.

    Ends with 1 when it would not be indexed.
    """
    from rowen.doors.cli import session

    if Path(url).exists():
        raise BadLocation(
            f"location `{url}`: a path here, and `rowen inspect` asks for pages of sites",
            hint=f"`rowen show {Path(url).resolve().as_uri()}` shows a file of a source",
            location=url,
        )
    config = call.config()

    async def look(config: Config) -> tuple[Inspection, Truth | None]:
        from rowen import wiring
        from rowen.managing.find import find
        from rowen.managing.guess import complete
        from rowen.managing.inspect import inspect
        from rowen.reading.addresses import truth

        async with wiring.open_ports(config, create=source is None) as ports:
            belongs = await find(ports.store, source) if source else None
            address = complete(url, exists=False).locations[0]
            known = await truth(ports.store, address, ports.clock.now()) if belongs else None
            return await inspect(ports, address, source=belongs, typed=True), known

    if source is not None:
        found, known = session.run_async(lambda: look(config))
    else:
        # A page can be looked at before there is a store, and without making one.
        with tempfile.TemporaryDirectory(prefix="rowen-") as folder:
            apart = replace(config, store=replace(config.store, url=f"sqlite:///{folder}/rowen.db"))
            found, known = session.run_async(lambda: look(apart))
    if call.out.json:
        from rowen.doors.shapes.inspected import Inspection as Shape

        call.out.emit(Shape.show(found, known=known))
    else:
        _show(call, found, known, text=text)
    return 0 if found.why_not is None else 1


def _show(call: Call, found: Inspection, known: Truth | None, *, text: bool) -> None:
    from rowen.doors.words import count, size

    call.out.line(clean(found.title) or found.final_url)
    followed = sum(link.why_not is None for link in found.links)
    received = f"{size(found.body_bytes)}, {size(found.bytes_received)} over the wire"
    rows = [
        ("verdict", found.verdict),
        (
            "address",
            " → ".join(
                (found.url, *found.redirects, *([found.final_url] if found.final_url != found.url else []))
            ),
        ),
        ("answer", f"{found.status}, {found.content_type or 'no type'}, {received}"),
        ("refresh", found.about_validators),
        ("robots", found.robots.says),
        ("links", f"{followed:,} of {len(found.links):,} would be followed"),
    ]
    if known is not None:
        rows.append(("copy", clean(known.says)))
    if found.page_words:
        rows.append(("left out", f"{found.cut_words:,} of {count(found.page_words, 'word')} of the page"))
        rows += [("", clean(block)[:100]) for block in found.cut[:CUT_SHOWN]]
    call.out.table(["", "~"], rows)
    if text:
        call.out.line("")
        call.out.line(clean_text(found.markdown))
