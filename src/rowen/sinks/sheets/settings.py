"""The settings of a Google Sheets sink, and what they become for a night."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import time
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rowen.core import params as parameters
from rowen.core.exchange.sheet import COLUMNS, ID
from rowen.core.params import whole, words
from rowen.core.safety import secrets
from rowen.core.safety.secrets import Secret
from rowen.core.web import urls
from rowen.engine.ports import Ports
from rowen.errors import ConfigError
from rowen.ports.sheets import SpreadsheetOptions
from rowen.records import dataclass
from rowen.sinks.declared import SOURCES, setting
from rowen.sinks.sheets.night_window import NightWindow

GOOGLE = "https://sheets.googleapis.com"
TIMEOUT_S = 180.0
"""So long Google works on one call before it gives up itself."""
_IN_URL = re.compile(r"/spreadsheets/d/([A-Za-z0-9_-]+)")
_WHOLE_ID = re.compile(r"[A-Za-z0-9_-]{10,}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(:00)?")
"""With seconds, as a time in a TOML file has them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetSettings:
    spreadsheet: str
    """The id of the file."""
    sheet: str
    """The title under which the tab is looked for, or made."""
    window: NightWindow
    columns: tuple[str, ...]
    min_open: int
    credentials: str
    credentials_file: str
    base_url: str


def _spreadsheet(text: str) -> str:
    found = _IN_URL.search(text)
    if found:
        return found[1]
    if not _WHOLE_ID.fullmatch(text.strip()):
        raise ValueError("expected the address of a Google sheet, or the id in it")
    return text.strip()


def _title(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > 100:
        raise ValueError("expected the title of a tab")
    return text.strip()


def _key(text: str) -> str:
    if not _VARIABLE.fullmatch(text.strip()):
        raise ValueError("expected `${VARIABLE}` and nothing else: the key itself would be stored in clear")
    return text.strip()


def _zone(text: str) -> str:
    try:
        ZoneInfo(text.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("expected a time zone such as `Europe/Madrid`") from None
    return text.strip()


def _clock_time(text: str) -> str:
    if not _TIME.fullmatch(text.strip()):
        raise ValueError("expected a time such as `03:00`")
    return text.strip()


def _columns(text: str) -> list[str]:
    names = words(text)
    if not names or not set(names) <= set(COLUMNS):
        raise ValueError(f"expected some of {', '.join(COLUMNS)}")
    return list(dict.fromkeys((ID, *names)))


def _address(text: str) -> str:
    normal = urls.normalise(text.strip())
    if normal is None or urls.without_credentials(normal) != normal:
        raise ValueError("expected an http or https address")
    return normal


PARAMS = (
    setting("spreadsheet", "", _spreadsheet, "The address of the Google sheet, or the id in it"),
    setting("sheet", "Companies", _title, "The title of the tab; once found, it may be renamed"),
    setting(
        "credentials",
        "",
        _key,
        "The JSON key of a service account, by reference: '${GOOGLE_KEY}'",
        secret=True,
    ),
    setting(
        "credentials_file",
        "",
        str.strip,
        "Or the file that holds it; may be a reference too: '${GOOGLE_APPLICATION_CREDENTIALS}'",
    ),
    setting("timezone", "Europe/Madrid", _zone, "Whose clocks say when it is night"),
    setting("from", "03:00", _clock_time, "When the night begins"),
    setting(
        "to",
        "06:00",
        _clock_time,
        "When it ends; before `from` is on the next day, the same time is a whole day",
    ),
    setting("columns", list(COLUMNS), _columns, "Which of our columns to keep; company_id is always there"),
    setting(
        "min_open",
        0,
        whole(0, 1_000_000),
        "A company gets a row when it has so many open offers; a row that is there is kept",
    ),
    setting("base_url", GOOGLE, _address, "Where the service answers"),
)


def read(settings: Mapping[str, Any]) -> SheetSettings:
    """The settings, checked; as text, or as a file of settings gives them. Raises `ConfigError`."""
    given = {name: parameters.as_text(value) for name, value in settings.items() if name != SOURCES}
    values = parameters.complete(PARAMS, parameters.read(PARAMS, given))
    if not values["spreadsheet"]:
        raise ConfigError("setting `spreadsheet`: missing", hint="give the address of the Google sheet")
    if bool(values["credentials"]) == bool(values["credentials_file"]):
        raise ConfigError(
            "settings `credentials` and `credentials_file`: expected one of them",
            hint='`credentials = "${GOOGLE_KEY}"` with the JSON key of a service account in that variable',
        )
    return SheetSettings(
        spreadsheet=values["spreadsheet"],
        sheet=values["sheet"],
        window=NightWindow(_as_time(values["from"]), _as_time(values["to"]), ZoneInfo(values["timezone"])),
        columns=tuple(values["columns"]),
        min_open=values["min_open"],
        credentials=values["credentials"],
        credentials_file=values["credentials_file"],
        base_url=values["base_url"],
    )


def options(ports: Ports, settings: SheetSettings) -> SpreadsheetOptions:
    """How to open the sheet, with the key that the settings refer to. Raises `ConfigError`."""
    key: Secret | None = None
    found = _VARIABLE.fullmatch(settings.credentials)
    if found:
        # Unlike other secrets this one has lines.
        value = (ports.secrets(found[1]) or "").strip()
        if not value:
            raise ConfigError(
                f"variable `{found[1]}`: not set, and setting `credentials` needs it",
                hint=f'set it in the environment of this command: `export {found[1]}="$(cat key.json)"`',
                variable=found[1],
            )
        key = Secret(value)
    file = settings.credentials_file
    return SpreadsheetOptions(
        spreadsheet_id=settings.spreadsheet,
        base_url=settings.base_url,
        credentials=key,
        credentials_file=secrets.fill("credentials_file", file, ports.secrets) if file else None,
        user_agent=ports.fetch.user_agent,
        timeout_s=max(TIMEOUT_S, ports.fetch.timeout_s),
    )


def _as_time(text: str) -> time:
    hour, minute = text.split(":")[:2]
    return time(int(hour), int(minute))
