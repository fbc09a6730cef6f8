"""`python -m rowen` is `rowen`."""

from __future__ import annotations

from rowen.doors.cli import run

run()
