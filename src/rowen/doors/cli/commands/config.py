"""`rowen config show`: every setting, its value, and where that came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, group
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.starting.declared import click
from rowen.doors.words import count

if TYPE_CHECKING:
    from rowen.project_file import Found


@rowen_command("show", short_help="Show every value and where it came from.")
def show(call: Call) -> None:
    """Show every setting, its value, and where it came from."""
    from rowen import config as settings
    from rowen import project_file, wiring

    config, found = settings.load(db=call.db, folder=Path.cwd())
    file = project_file.find(Path.cwd())
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
        described = file and {"path": str(file.path), "trusted": file.trusted, "sources": file.sources}
        call.out.emit({"db": path, "file": described, "settings": shown})
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
    if file is not None:
        call.out.line(f"{file.path}: {_about(file)}")
    call.out.note(
        "change one with its variable (ROWEN_FETCH_TIMEOUT_S=10), or in a TOML file named by ROWEN_CONFIG"
    )


@rowen_command("trust", short_help="Use the settings of the rowen.toml in this folder.")
@click.argument("file", default="rowen.toml")
@click.option("--no", "distrust", is_flag=True, help="Stop using them.")
def trust(call: Call, file: str, distrust: bool) -> None:
    """Let commands that are called in this folder use the settings of its rowen.toml, including its store.

    Read the file first. Trust is remembered for you and for this path. Even a trusted file cannot start
    programs, name a store outside its folder or decide where keys are sent.
    """
    from rowen import project_file
    from rowen.errors import NotFound

    path = Path(file)
    if not path.is_file():
        raise NotFound(f"file `{file}`: not there", hint="`rowen init` writes one")
    project_file.trust(path, trusted=not distrust)
    said = "not trusted any more" if distrust else "trusted: commands called in its folder use its settings"
    call.out.result({"file": str(path.absolute()), "trusted": not distrust}, f"{path.absolute()}: {said}")


def _about(file: Found) -> str:
    listed = f"lists {count(file.sources, 'source')} for `rowen apply`"
    if not file.has_settings:
        return listed
    used = "its settings are used" if file.trusted else "its settings are not used: `rowen config trust`"
    return f"{used}; {listed}"


def _shown(value: object) -> object:
    from rowen.core.web.urls import without_credentials

    return without_credentials(value) if isinstance(value, str) and "://" in value else value


command = group(
    "config",
    show,
    trust,
    help="Settings: defaults, then a file (rowen.toml here if you trust it, or what ROWEN_CONFIG names), "
    "then the environment, then flags.",
)
