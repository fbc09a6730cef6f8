"""Start a program with the alarm: as JSON on its standard input, and in variables.

No shell: what an error message says can never become a command. A program that takes too long is ended, with
what it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping

from rowen.core.exchange.alarm import Alarm
from rowen.errors import ConfigError, PermanentError
from rowen.ports.alarms import Route

TIMEOUT_S = 30.0
PREFIX = "ROWEN_ALARM_"
_SAID_CHARS = 200


async def deliver(route: Route, alarm: Alarm, environment: Mapping[str, str]) -> None:
    program, *arguments = route.settings["command"]
    timeout_s = route.settings.get("timeout_s", TIMEOUT_S)
    where = f"alarm channel `{route.name}`: program `{program}`"
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**environment, **_variables(alarm)},
            start_new_session=True,
        )
    except (OSError, ValueError) as exc:
        cause = getattr(exc, "strerror", None) or "not a name of a program"
        raise ConfigError(f"{where}: cannot be started: {cause}") from exc
    try:
        async with asyncio.timeout(timeout_s):
            _, complaint = await process.communicate(json.dumps(alarm.as_dict()).encode())
    except TimeoutError as exc:
        raise PermanentError(f"{where}: took longer than {timeout_s:g} s and was ended") from exc
    finally:
        await _end(process)
    if process.returncode:
        lines = complaint.decode("utf-8", "replace").strip().splitlines() or [""]
        said = "".join(c for c in lines[-1] if c.isprintable())[:_SAID_CHARS]
        raise PermanentError(f"{where}: ended with {process.returncode}" + (f", {said}" if said else ""))


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # Also closes the pipes, so that nothing is left for the garbage collector to complain about.
        await asyncio.shield(process.communicate())


def _variables(alarm: Alarm) -> dict[str, str]:
    values = {**alarm.as_dict(), "title": alarm.title}
    return {
        PREFIX + name.upper(): "" if value is None else _storable(value) for name, value in values.items()
    }


def _storable(value: object) -> str:
    # A variable can hold neither a zero byte nor half a surrogate pair; an error message from outside may.
    return str(value).replace("\0", " ").encode("utf-8", "replace").decode()
