"""`rowen plan`: what a sync would cost at the embedding provider."""

from __future__ import annotations

from dataclasses import asdict

import click

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names


@store_command("plan")
@click.argument("name", shell_complete=source_names)
async def command(call: Call, name: str) -> None:
    """Estimate the texts, calls and cost of embedding source NAME, without syncing it.

    Before the first sync a few of its pages or files are read for it, and nothing is stored.
    """
    from rowen.doors.words import count, size
    from rowen.managing.plan import GUESSED_CHARS_PER_ITEM, plan

    source = await call.source(name)
    price = call.config().embedding.price_per_million_tokens
    made = await plan(call.ports, source, price_per_million_tokens=price)
    if made.items is None:
        known = f"{made.stored:,} documents stored; its size shows while it is synced"
    elif (first := made.estimate) is not None:
        about = "" if first.exact else "about "
        known = (
            f"not synced yet; an estimate: {first.says}\n"
            f"{about}{count(first.items, 'item')}, {size(first.bytes)}"
        )
    else:
        known = f"{count(made.items, 'item')}, {made.stored:,} stored, {made.new_items:,} new"
        if not made.stored:
            known += f"\nlengths are a guess: {GUESSED_CHARS_PER_ITEM:,} characters an item"
    cost = f"model `{made.model}`; no price is set (`embedding.price_per_million_tokens`)"
    if made.cost is not None:
        cost = f"model `{made.model}`: about {made.cost:,.2f} at the price that is set"
    call.out.result(
        {"source": source.label, **asdict(made)},
        f"{source.label}: {known}\n"
        f"about {count(made.texts, 'text')}, {made.tokens:,} tokens, {count(made.calls, 'call')}\n{cost}",
    )
