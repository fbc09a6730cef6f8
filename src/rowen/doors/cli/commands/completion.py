"""`rowen completion`: what a shell needs to complete commands, options and the names of sources."""

from __future__ import annotations

from pathlib import Path

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import write_line
from rowen.doors.cli.starting.declared import click
from rowen.errors import UserError

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ROWEN_COMPLETE"


@rowen_command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--install", is_flag=True, help="Write it where the shell looks for it.")
def command(call: Call, shell: str, install: bool) -> None:
    """Print the completion script of SHELL, or install it for you.

    After that, the Tab key completes commands, options and the names of your sources.
    """
    import sys

    script = _script(shell)
    file, further = _place(shell)
    if install:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(script, "utf-8")
        except OSError as exc:
            raise UserError(f"file `{file}`: cannot be written: {exc.strerror}") from exc
        call.out.result({"shell": shell, "file": str(file), "next": further}, f"written to {file}\n{further}")
        return
    if call.out.json:
        call.out.emit({"shell": shell, "script": script, "file": str(file)})
        return
    write_line(sys.stdout, script.rstrip())
    if sys.stdout.isatty():
        call.out.note(f"`rowen completion {shell} --install` writes this to {file}")


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from rowen.doors.cli.starting.by_click import cli

    made = get_completion_class(shell)
    if made is None:
        raise AssertionError("click knows the shells of SHELLS")
    return made(cli, {}, "rowen", VARIABLE).source()


def _place(shell: str) -> tuple[Path, str]:
    """The file in which the shell looks, and what is left to do."""
    import platformdirs

    if shell == "bash":
        data = Path(platformdirs.user_data_dir())
        return (
            data / "bash-completion/completions/rowen",
            "open a new shell; it needs the package bash-completion",
        )
    if shell == "zsh":
        further = "put `fpath+=~/.zfunc; autoload -Uz compinit; compinit` into ~/.zshrc, and open a new shell"
        return Path.home() / ".zfunc" / "_rowen", further
    return Path(platformdirs.user_config_dir()) / "fish/completions/rowen.fish", "open a new shell"
