"""`rowen add`: name a source; the server is asked what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, clean
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.flows.sources import Added
    from rowen.flows.tools import Tools


class AddCommand(click.Command):
    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from rowen.flows.kinds import KINDS

        for kind in KINDS.values():
            with formatter.section(f"Settings of kind `{kind.name}`, for --set"):
                formatter.write_dl(
                    [(f"{p.label}={_shown(p.default)}", f"{p.help}.") for p in kind.params], col_max=34
                )


@rowen_command("add", cls=AddCommand, short_help="Add a source: a documentation site, by its address.")
@click.argument("location")
@click.option("--name", required=True, help="What to call it.")
@click.option("--kind", help="What it is; found out when left away.")
@click.option("--version", "version", default="", help="Which version of the thing it documents.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the source; repeatable."
)
@click.option("--no-check", is_flag=True, help="Do not ask the server now.")
def command(
    call: Call,
    location: str,
    name: str,
    kind: str | None,
    version: str,
    settings: tuple[str, ...],
    no_check: bool,
) -> int:
    """Add the source at LOCATION, for example `https://docs.example.org/`.

    The address may be private: it is you who typed it. Links and redirects that lead to other private
    addresses are not followed.
    """
    from rowen.doors.cli import session

    given = _pairs(settings)

    async def work(tools: Tools) -> None:
        added = await perform(
            tools,
            call.out,
            location,
            name=name,
            kind=kind,
            version=version,
            settings=given,
            check=not no_check,
        )
        call.out.note(f"next: rowen sync {added.source.label}")

    session.run(call, work)
    return 0


async def perform(tools: Tools, out: Output, location: str, **options: Any) -> Added:
    from rowen.flows import sources

    added = await sources.add(tools, location, **options)
    source = added.source
    if out.json:
        out.emit(
            {
                "source": source.label,
                "kind": source.kind,
                "location": source.location,
                "key": source.key,
                "settings": dict(source.params),
                "findings": list(added.findings),
            }
        )
        return added
    from rich.text import Text

    line = Text("added ", style="green").append(source.label, "bold default")
    out.line(line.append(f"  {source.kind}  {source.location}", "default"))
    for finding in added.findings:
        out.line(Text(f"  {clean(finding)}", style="dim"))
    return added


def _pairs(settings: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UserError(
                f"--set `{setting}`: expected `key=value`", hint="for example `--set max_depth=3`"
            )
        pairs[key.strip()] = value
    return pairs


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return (
        "none" if default is None else ",".join(default) if isinstance(default, list | dict) else str(default)
    )
