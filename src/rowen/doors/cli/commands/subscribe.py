"""`rowen subscribe`, `rowen subscriptions` and `rowen unsubscribe`: be told when one answer changes."""

from __future__ import annotations

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean
from rowen.doors.cli.starting.declared import click


@store_command("subscribe")
@click.option("--path", default="", metavar="GLOB", help="Pages whose path fits, such as `library/*`.")
@click.option("--heading", default="", help="Sections with this heading, or heading path.")
@click.option("--symbol", default="", metavar="NAME", help="The definition of a name, with its signature.")
@click.option("--question", default="", help="The best answer of a search.")
@click.option(
    "--source", "sources", multiple=True, shell_complete=source_names, help="Only of these; all if omitted."
)
@click.option("--url", default="", help="Post a signed message there; may hold `${VARIABLE}`.")
@click.option("--secret", default="", help="Signs each message, by reference: '${HOOK_SECRET}'.")
@click.option("--file", default="", metavar="FILE", help="Write messages there, a line of JSON each.")
@click.option("--name", help="What it is called; made up if omitted.")
async def command(call: Call, sources: tuple[str, ...], name: str | None, **settings: str) -> None:
    """Send a message when one answer changes: that of a path, a heading, a name or a question.

    One message for each change, after readers see it; none for a sync that brings nothing new.
    """
    from rowen.service.subscriptions.sink import ANSWER, asked
    from rowen.service.subscriptions.subscribing import subscribe

    for one in sources:
        await call.source(one)
    made = await subscribe(call.ports, name=name, sources=sources, settings=settings)
    way, wanted = asked(made.settings)
    entries = made.state.get(ANSWER, {})
    now = (
        f"{len(entries):,} answer it now" if way != "question" else "asked" if entries else "nothing fits now"
    )
    call.out.result(
        {"subscription": made.name, way: wanted, "entries": len(entries)},
        f"subscribed as `{made.name}`: {way} `{wanted}`, {now}",
    )


@store_command("subscriptions", reads=True)
async def subscriptions(call: Call) -> None:
    """List subscriptions: what each is about, whom it tells, and how often it did."""
    from rowen.doors.shapes import subscriptions as shapes
    from rowen.service.subscriptions import subscribing

    found = await subscribing.subscriptions(call.ports.store)
    rows = [shapes.Subscription.show(sink) for sink in found]
    if call.out.json:
        call.out.emit({"subscriptions": rows})
        return
    if not rows:
        call.out.line("no subscriptions")
        return
    from rowen.doors.cli.drawing.text import Text

    call.out.table(
        ["*name", "about", "~of", "~tells", ">messages", "problem"],
        [
            (
                Text(row["subscription"]),
                Text(clean(" ".join(f"{way} `{wanted}`" for way, wanted in row["asks"].items()))),
                Text(", ".join(row["sources"]) or "all"),
                Text(clean(str(row["tells"]))),
                Text(f"{row['messages']:,}{' +1 waits' if row['pending'] else ''}"),
                Text(clean(row["error"] or "")),
            )
            for row in rows
        ],
    )


@store_command("unsubscribe")
@click.argument("name")
async def unsubscribe(call: Call, name: str) -> None:
    """Remove subscription NAME; messages that were already sent stay with their receiver."""
    from rowen.service.subscriptions import subscribing

    await subscribing.unsubscribe(call.ports.store, name)
    call.out.result({"removed": name}, f"unsubscribed `{name}`")
