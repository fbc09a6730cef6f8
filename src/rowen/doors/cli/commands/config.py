"""`rowen config show`: every setting, its value, and where that came from."""

from __future__ import annotations

import click

from rowen.doors.cli.call import Call, common_options
from rowen.doors.cli.call import command as rowen_command


@click.group("config", short_help="Show the settings and where each came from.")
def command() -> None:
    """Settings: defaults, then the file named by ROWEN_CONFIG, then the environment, then flags."""


@rowen_command("show", short_help="Show every setting and where it came from.")
def show(call: Call) -> int:
    """Show every setting, its value, and where it came from."""
    from rowen import config as settings
    from rowen import wiring
    from rowen.core.web.urls import without_credentials

    config, shown = settings.load(db=call.db)
    path = wiring.store_name(config)
    values = [
        (one, without_credentials(one.value) if isinstance(one.value, str) else one.value) for one in shown
    ]
    if call.out.json:
        call.out.emit(
            {
                "db": path,
                "settings": [
                    {
                        "name": one.name,
                        "value": value,
                        "origin": one.origin.strip("`"),
                        "variable": one.variable,
                        "help": one.help,
                    }
                    for one, value in values
                ],
            }
        )
        return 0
    from rich.table import Table

    # Eighty columns do not hold a sentence beside the values.
    wide = call.out.console.width >= 120
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", style="bold", overflow="fold")
    table.add_column("from", no_wrap=True)
    if wide:
        table.add_column("what it is", style="dim")
    for one, value in values:
        said = str(value).lower() if isinstance(value, bool) else str(value)
        if one.name == "store.url" and not value:
            said = path
        table.add_row(one.name, said, one.origin.strip("`"), *([one.help] if wide else []))
    call.out.print(table)
    call.out.note(
        "change one with its variable (ROWEN_FETCH_TIMEOUT_S=10), or in a TOML file named by ROWEN_CONFIG"
    )
    return 0


command.params += common_options()
command.add_command(show)
