"""The command line, `rowen`. Start here: `app.py`; one file a command in `commands/`."""

from rowen.doors.cli.app import main

__all__ = ["main"]
