"""What the user sees when something went wrong, and the exit code it ends with.

0 good, 1 the work failed, 2 the call was wrong, 130 and 143 interrupted. A `RowenError` is told in two lines;
anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

import sys

from rowen.doors.cli.output import Output, clean, dumps, wrapped, write_line
from rowen.doors.cli.starting.declared import click
from rowen.errors import RowenError, UserError

GOOD, FAILED, WRONG_CALL, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class Interrupted(Exception):
    """Ctrl-C or a polite kill, after everything was put in order."""

    def __init__(self, code: int, message: str = "interrupted") -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def exit_code(exc: RowenError) -> int:
    return WRONG_CALL if isinstance(exc, UserError) else FAILED


def report(exc: BaseException, *, out: Output, verbose: bool) -> int:
    """Tell standard error what happened; answers the exit code."""
    match exc:
        case RowenError():
            if verbose:
                show_traceback(exc)
            tell(exc.message, exc.reason, exc.hint, out=out)
            return exit_code(exc)
        case Interrupted():
            if out.json:
                write_line(sys.stderr, dumps({"error": exc.message, "reason": "interrupted", "hint": None}))
            else:
                write_line(sys.stderr, exc.message)
            return exc.code
        case click.Abort():
            return report(Interrupted(INTERRUPTED), out=out, verbose=verbose)
        case click.ClickException():
            tell(*_usage(exc), out=out)
            return WRONG_CALL
    show_traceback(exc)
    tell(
        f"{type(exc).__name__}: {exc}",
        "bug",
        "this is a bug in rowen; please report it with the lines above",
        out=out,
    )
    return FAILED


def tell(message: str, reason: str, hint: str | None, *, out: Output) -> None:
    if out.json:
        write_line(sys.stderr, dumps({"error": message, "reason": reason, "hint": hint}))
        return
    paint = out.paints(sys.stderr)
    for word, color, text in (("error:", "red", message), ("hint:", "cyan", hint)):
        if text:
            said = wrapped(f"{word} {clean(text)}", sys.stderr)
            write_line(sys.stderr, said.replace(word, _mark(word, color, paint), 1))


def show_traceback(exc: BaseException) -> None:
    import traceback

    write_line(sys.stderr, "".join(traceback.format_exception(exc)).rstrip())


def _usage(exc: click.ClickException) -> tuple[str, str, str]:
    """Click's words in our form."""
    message = exc.format_message().rstrip(".")
    context = getattr(exc, "ctx", None)
    path = context.command_path if context is not None else "rowen"
    hint = f"see `{path} --help`"
    if isinstance(exc, click.NoSuchOption) and path == "rowen search" and not exc.possibilities:
        # Names of options are what documentation is searched for.
        hint += f"; words that begin with a dash come after `--`: `{path} -- --flag`"
    return message[:1].lower() + message[1:], "bad_call", hint


def _mark(word: str, color: str, paint: bool) -> str:
    return click.style(word, fg=color, bold=True) if paint else word
