"""`rowen plan`: what a sync would cost at the embedding provider."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("plan", short_help="Estimate what a sync would cost in embeddings.")
@click.argument("name")
def command(call: Call, name: str) -> int:
    """Estimate the texts, calls and cost of embedding source NAME, without harvesting it."""
    from rowen import config as settings
    from rowen.doors.cli import session

    config, _ = settings.load(db=call.db)

    async def work(ports: Ports) -> None:
        from rowen.doors.cli.words import count
        from rowen.managing.find import find
        from rowen.managing.plan import plan

        source = await find(ports, name)
        made = await plan(ports, source, price_per_million_tokens=config.embedding.price_per_million_tokens)
        if call.out.json:
            call.out.emit({"source": source.label, **asdict(made)})
            return
        if made.items is None:
            call.out.line(
                f"{source.label}: {made.stored:,} documents stored; its size shows while it is harvested"
            )
        else:
            call.out.line(
                f"{source.label}: {count(made.items, 'item')}, {made.stored:,} stored, {made.new_items:,} new"
            )
        call.out.line(
            f"about {count(made.texts, 'text')}, {made.tokens:,} tokens, {count(made.calls, 'call')}"
        )
        if made.cost is None:
            call.out.line(f"model `{made.model}`; no price is set (`embedding.price_per_million_tokens`)")
        else:
            call.out.line(f"model `{made.model}`: about {made.cost:,.2f} at the price that is set")

    session.run(call, work)
    return 0
