"""What the service says while it runs: one line for each event, for people or as JSON.

An event has a name and fields; fields are ids and counts, never bodies, queries or credentials. Other modules
log through the standard library, and their lines come out in the same form.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGERS = ("rowen", "uvicorn")
FIELDS = "fields"


def configure(form: str, *, stream: TextIO | None = None) -> logging.Handler:
    """Let everything of ours go to standard error; answers the handler, for `restore`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else PlainLines())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO if name == "rowen" else logging.WARNING)
        logger.propagate = False
    return handler


def restore(handler: logging.Handler) -> None:
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        logger.propagate = True


def line(name: str) -> str:
    """An event as a line of JSON, for the last words of a process that has put its log away."""
    return JsonLines().format(logging.LogRecord("rowen.rest", logging.INFO, "", 0, name, None, None))


def event(logger: logging.Logger, name: str, *, level: int = logging.INFO, **fields: Any) -> None:
    logger.log(level, name, extra={FIELDS: fields})


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": _time(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        words = [_time(record).strftime("%H:%M:%S")]
        if record.levelno >= logging.WARNING:
            words.append(record.levelname.lower())
        words.append(record.getMessage())
        words += [f"{name}={_shown(value)}" for name, value in getattr(record, FIELDS, {}).items()]
        # Addresses and messages come from outside: a line break in one must not look like a line of ours.
        line = "".join(char if char.isprintable() else "�" for char in " ".join(words))
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text) if " " in text or not text else text
