"""The command line, `rowen`. Start here: `app.py`; one file a command in `commands/`."""

from __future__ import annotations

import sys

from rowen import __version__

__all__ = ["main"]


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
    from rowen.doors.cli import app

    return app.main(argv)
