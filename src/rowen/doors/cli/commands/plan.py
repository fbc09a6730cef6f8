"""`rowen plan`: what a sync would do and what it would cost, and a file with which to do exactly that."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from rowen.core.source import Source
    from rowen.managing.plans import PlannedSync

SHOWN = 50
"""Lines of a plan on a screen; the file and JSON have all of them."""
WORDS = {"new": "+", "changed": "~", "metadata": "·", "gone": "-", "failed": "!"}


@store_command("plan")
@click.argument("name", shell_complete=source_names)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the plan to a file, for `rowen sync NAME --plan FILE`.",
)
@click.option("--full-sync", is_flag=True, help="Plan a sync that fetches every page again.")
@click.option("--estimate", is_flag=True, help="Only estimate; do not ask the source for each item.")
async def command(call: Call, name: str, out: Path | None, full_sync: bool, estimate: bool) -> None:
    """List what a sync of source NAME would do (new, changed, gone), and what it would cost, without
    changing what readers see.

    The source is asked as a sync asks it. What it sends is kept for a day, and not fetched again by
    `rowen sync NAME --plan FILE`. For a source that was never synced a few of its pages
    or files are read and the rest is estimated, unless --out names a file.
    """
    source = await call.source(name)
    if out is None and (estimate or not source.active_generation):
        value, text = await _estimated(call, source)
        call.out.result(value, text)
        return
    from rowen.managing import plans

    price = call.config().embedding.price_per_million_tokens
    plan = await plans.make(call.ports, source, full=full_sync, price_per_million_tokens=price)
    value, text = plans.to_dict(plan), _rendered(plan)
    if out is not None:
        _write(out, value)
        text += f"\n\n`rowen sync {source.label} --plan {out}` does exactly this"
    else:
        estimated, _ = await _estimated(call, source)
        # An estimate only counts: one page gone and one new are none to it. The plan has looked.
        known = {"new_items": plan.counts["new"], "texts": plan.embeddings}
        value = {**estimated, **known, **value}
    call.out.result(value, text)


async def _estimated(call: Call, source: Source) -> tuple[dict[str, Any], str]:
    from rowen.doors.words import count, size
    from rowen.managing.estimate import GUESSED_CHARS_PER_ITEM, cost_of

    price = call.config().embedding.price_per_million_tokens
    made = await cost_of(call.ports, source, price_per_million_tokens=price)
    if made.items is None:
        known = f"{count(made.stored, 'document')} stored; its size shows while it is synced"
    elif (first := made.estimate) is not None:
        about = "" if first.exact else "about "
        known = (
            f"not synced yet; an estimate: {first.says}\n"
            f"{about}{count(first.items, 'item')}, {size(first.bytes)}"
        )
    else:
        at_least = "at least " if made.stored else ""
        known = f"{count(made.items, 'item')}, {made.stored:,} stored, {at_least}{made.new_items:,} new"
        if not made.stored:
            known += f"\nlengths are a guess: {GUESSED_CHARS_PER_ITEM:,} characters an item"
    cost = f"model `{made.model}`; no price is set (`embedding.price_per_million_tokens`)"
    if made.cost is not None:
        cost = f"model `{made.model}`: about {made.cost:,.2f} at the price that is set"
    embedding = f"about {count(made.texts, 'text')}, {made.tokens:,} tokens, {count(made.calls, 'call')}"
    if made.items is None and not made.stored:
        # Nothing is known of it: a nought would be a lie.
        known = "not synced yet, and its kind has no cheap way to say how much there is"
        embedding = f"`rowen plan {source.label} --out FILE` asks for everything, and tells exactly"
    return {"source": source.label, **asdict(made)}, f"{source.label}: {known}\n{embedding}\n{cost}"


def _rendered(plan: PlannedSync) -> str:
    from rowen.doors.words import count, size
    from rowen.managing.plans import SIGNS

    counts = ", ".join(f"{number:,} {word}" for word, number in plan.counts.items() if number)
    said = [f"{plan.source}: {counts or 'nothing to do'}, {plan.unchanged:,} unchanged"]
    for line in plan.lines[:SHOWN]:
        word = SIGNS[line.outcome]
        why = f"  ({line.detail or line.reason})" if word in ("gone", "failed", "metadata") else ""
        said.append(f"  {WORDS[word]} {word:<8} {line.reference}{why}")
    if len(plan.lines) > SHOWN:
        said.append(f"  … {len(plan.lines) - SHOWN:,} more")
    cost = f", about {plan.cost:,.4f}" if plan.cost is not None else ""
    said.append(
        f"asked with {count(plan.requests, 'request')}, {size(plan.bytes_received)} received; to embed:"
        f" {count(plan.embeddings, 'text')}, {plan.tokens:,} tokens{cost} (`{plan.model}`)"
    )
    if plan.held:
        said.append(f"a sync would be held: {plan.held}")
    if plan.problem:
        said.append(f"problem: {plan.problem}")
    if plan.not_kept:
        said.append(f"{count(plan.not_kept, 'answer')} not kept, for lack of room: a sync fetches them again")
    return "\n".join(said)


def _write(out: Path, value: dict[str, Any]) -> None:
    import json

    from rowen.errors import UserError

    try:
        out.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as exc:
        raise UserError(f"`{out}`: {exc.strerror}") from exc


def read(path: Path) -> PlannedSync:
    """The plan in a file."""
    import json

    from rowen.errors import UserError
    from rowen.managing import plans

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise UserError(f"`{path}`: {exc.strerror}") from exc
    except ValueError:
        found = None
    return plans.from_dict(found, name=str(path))
