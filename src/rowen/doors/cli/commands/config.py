"""`rowen config show`: every setting, its value, and where that came from."""

from __future__ import annotations

from rowen.doors.cli.call import Call, group
from rowen.doors.cli.call import command as rowen_command


@rowen_command("show", short_help="Show every value and where it came from.")
def show(call: Call) -> None:
    """Show every setting, its value, and where it came from."""
    from rowen import config as settings
    from rowen import wiring

    config, found = settings.load(db=call.db)
    path = wiring.store_name(config)
    values = {one: _shown(one.value) for one in found}
    if call.out.json:
        shown = [
            {
                "name": one.name,
                "value": value,
                "origin": one.origin.strip("`"),
                "variable": one.variable,
                "help": one.help,
            }
            for one, value in values.items()
        ]
        call.out.emit({"db": path, "settings": shown})
        return
    # Eighty columns do not hold a sentence beside the values.
    wide = call.out.console.width >= 120
    rows = []
    for one, value in values.items():
        said = str(value).lower() if isinstance(value, bool) else str(value)
        if one.name == "store.url" and not value:
            said = path
        rows.append((one.name, said, one.origin.strip("`"), *([one.help] if wide else [])))
    call.out.table(["setting", "*~value", "from", *(["~meaning"] if wide else [])], rows)
    call.out.note(
        "change one with its variable (ROWEN_FETCH_TIMEOUT_S=10), or in a TOML file named by ROWEN_CONFIG"
    )


def _shown(value: object) -> object:
    from rowen.core.web.urls import without_credentials

    return without_credentials(value) if isinstance(value, str) and "://" in value else value


command = group(
    "config",
    show,
    help="Settings: defaults, then the file named by ROWEN_CONFIG, then the environment, then flags.",
)
