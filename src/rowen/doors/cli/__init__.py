"""The command line, `rowen`. Start here: `app.py`; one file a command in `commands/`."""

from __future__ import annotations

import gc
import os
import sys

from rowen import __version__

# The name that type checkers know, without the module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main", "run"]

AT_FIRST = 100_000
"""So many objects a process makes before Python looks for cycles among them, in place of 700. A command that
reads makes 40,000, nearly all of them modules, which stay."""
IN_A_LOOP = 5_000
"""The same for a process that may go on for long, once it has begun. Runs raise it further."""


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code and never raises."""
    if (sys.argv[1:] if argv is None else argv) in (["--version"], ["-V"]):
        # The one call that needs nothing else. A reader who went away is the other way's business.
        try:
            sys.stdout.write(f"rowen {__version__}\n")
            sys.stdout.flush()
            return 0
        except OSError:
            pass
    from rowen.doors.cli.starting import late_modules

    late_modules.put_off()  # before anything imports them
    from rowen.doors.cli import app

    return app.main(argv)


def run() -> NoReturn:
    """The life of the process `rowen`."""
    gc.set_threshold(AT_FIRST)
    _open_what_is_closed()
    _leave(main())


def collect_more_often() -> None:
    """For a process that may go on for long. What it made so far stays, and is not looked through again."""
    if gc.get_threshold()[0] == AT_FIRST:
        gc.freeze()
        gc.set_threshold(IN_A_LOOP)


def _open_what_is_closed() -> None:
    """A process may be started with standard streams closed (`>&-`): Python has none of them then.

    The number of a closed stream would also be that of the next file that is opened, and what a library
    writes to standard output would go into that file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # For good, and without pathlib, which takes long to import.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _leave(code: int) -> NoReturn:
    """End the process without taking the interpreter apart, which takes as long as to read a small store.

    `main` has closed what it opened and flushed what it wrote. What was registered for the end is done. A
    process that is watched, or in which a thread is at work, ends as Python ends it.
    """
    watched = sys.gettrace() or sys.getprofile() or sys.flags.inspect or sys.flags.dev_mode
    threading = sys.modules.get("threading")
    if watched or (threading is not None and threading.active_count() > 1):
        sys.exit(code)
    import atexit

    atexit._run_exitfuncs()
    os._exit(code)
