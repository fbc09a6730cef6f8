"""Read the channels for alarms out of `[[alarms]]` tables.

    [[alarms]]
    kind = "email"
    on = ["fatal", "held", "sink"]
    sources = ["jobs-*"]
    host = "smtp.example.org"
    user = "rowen"
    password = "${SMTP_PASSWORD}"
    from = "rowen@example.org"
    to = ["ops@example.org"]

Pure: tables in, channels out, and back into tables that a store can keep. Secrets are references and stay so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rowen.core.exchange.alarm import Channel, Severity, What
from rowen.core.rules.duration import Duration
from rowen.core.safety.secrets import reference
from rowen.core.web import urls
from rowen.errors import ConfigError, did_you_mean

DEFAULT = Channel(name="log", kind="log")
"""When no channel is defined."""
PORTS = {"starttls": 587, "ssl": 465, "none": 25}
_ON = ", ".join(what.value for what in What)
COMMON: Mapping[str, str] = {
    "kind": "`log`, `command`, `webhook` or `email`",
    "name": "The name of the channel in messages; the kind if omitted",
    "on": f"Which alarms to send, as a list: {_ON}; everything if omitted",
    "sources": "Globs over names of sources; all if omitted",
    "severity": "The lowest severity to send: info, warning, error or critical; info if omitted",
    "after": "Failures in a row before `error` or `sink` is raised; 1 if omitted",
}
"""What every channel may have, with its meaning."""


def read(tables: Any, *, where: str) -> list[Channel]:
    """The channels, checked. Raises `ConfigError`; `where` begins its messages."""
    if not isinstance(tables, list | tuple) or not all(isinstance(table, Mapping) for table in tables):
        raise ConfigError(f"{where}: `alarms` is not a list of tables", hint="write `[[alarms]]` above each")
    channels: list[Channel] = []
    for number, table in enumerate(tables, 1):
        channels.append(_channel(table, f"{where}, alarm {number}", [one.name for one in channels]))
    return channels


def as_table(channel: Channel) -> dict[str, Any]:
    """The table that `read` makes the same channel of."""
    return {
        "name": channel.name,
        "kind": channel.kind,
        "on": sorted(channel.on),
        "sources": list(channel.sources),
        "severity": channel.severity.label,
        "after": channel.after,
        **channel.settings,
    }


def _channel(table: Mapping[str, Any], where: str, taken: Sequence[str]) -> Channel:
    kind = table.get("kind")
    fields = FIELDS.get(kind) if isinstance(kind, str) else None
    if not isinstance(kind, str) or fields is None:
        raise ConfigError(f"{where}: `kind` is {_said(kind)}", hint=f"one of {', '.join(FIELDS)}")
    for name in table:
        if name not in fields and name not in COMMON:
            hint = did_you_mean(name, [*COMMON, *fields])
            raise ConfigError(f"{where}: unknown field `{name}`", hint=hint)
    settings = {name: _checked(table, name, parse, where) for name, parse in fields.items() if name in table}
    for name in REQUIRED[kind]:
        if name not in settings:
            raise ConfigError(f"{where}: `{name}` is missing, and a channel of kind `{kind}` needs it")
    if kind == "email":
        _check_email(settings, where)
    name = str(table.get("name") or _free(kind, taken))
    if name in taken:
        raise ConfigError(f"{where}: another channel is called `{name}` too")
    return Channel(
        name=name,
        kind=kind,
        on=_checked(table, "on", _on, where) if "on" in table else frozenset(What),
        sources=_checked(table, "sources", _words, where) if "sources" in table else (),
        severity=_checked(table, "severity", _severity, where) if "severity" in table else Severity.INFO,
        after=_checked(table, "after", lambda value: _whole(value, 1000), where) if "after" in table else 1,
        settings={key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()},
    )


def _checked(table: Mapping[str, Any], name: str, parse: Callable[[Any], Any], where: str) -> Any:
    try:
        return parse(table[name])
    except ValueError as exc:
        # The value is not repeated: it may be the secret that should not have been there.
        raise ConfigError(f"{where}: `{name}`: {exc}") from None


def _check_email(settings: Mapping[str, Any], where: str) -> None:
    if ("user" in settings) != ("password" in settings):
        raise ConfigError(f"{where}: `user` and `password` go together")
    if settings.get("security") == "none" and "password" in settings:
        raise ConfigError(
            f"{where}: the password would travel in clear", hint='set `security = "starttls"` or `"ssl"`'
        )


def _free(kind: str, taken: Sequence[str]) -> str:
    names = [kind, *(f"{kind}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _said(kind: object) -> str:
    return "missing" if kind is None else f"`{kind}`, which is not a kind of channel"


def _on(value: object) -> frozenset[What]:
    try:
        found = frozenset(What(word) for word in _words(value))
    except ValueError:
        raise ValueError(f"expected a list of {_ON}") from None
    if not found:
        raise ValueError(f"expected a list of {_ON}")
    return found


def _severity(value: object) -> Severity:
    for severity in Severity:
        if value == severity.label:
            return severity
    raise ValueError("expected info, warning, error or critical")


def _words(value: object) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) and word for word in words):
        raise ValueError("expected a list of words")
    return tuple(words)


def _some_words(value: object) -> tuple[str, ...]:
    words = _words(value)
    if not words:
        raise ValueError("expected at least one")
    return words


def _command(value: object) -> tuple[str, ...]:
    if isinstance(value, str) and len(value.split()) > 1:
        raise ValueError('expected a list of words, such as `["notify-send", "Rowen"]`: there is no shell')
    return _some_words(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("expected a line of text")
    return value.strip()


def _secret(value: object) -> str:
    return reference(_text(value))


def _url(value: object) -> str:
    text = _text(value)
    if "${" not in text:
        if urls.without_credentials(text) != text or urls.secret_parameter(text) is not None:
            raise ValueError("it holds a secret, which would be stored in clear: write `${VARIABLE}` instead")
        if urls.normalise(text) is None:
            raise ValueError("expected an http or https address, or a reference such as `${VARIABLE}`")
    return text


def _whole(value: object, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= high:
        raise ValueError(f"expected 1 to {high}")
    return value


def _port(value: object) -> int:
    return _whole(value, 65_535)


def _seconds(value: object) -> float:
    return Duration(0.1, 600, bare="s")("" if isinstance(value, bool) else str(value))


def _security(value: object) -> str:
    if value not in PORTS:
        raise ValueError(f"expected one of {', '.join(PORTS)}")
    return str(value)


FIELDS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "log": {},
    "command": {"command": _command, "timeout_s": _seconds},
    "webhook": {"url": _url, "secret": _secret, "timeout_s": _seconds},
    "email": {
        "host": _text,
        "port": _port,
        "security": _security,
        "user": _text,
        "password": _secret,
        "from": _text,
        "to": _some_words,
        "timeout_s": _seconds,
    },
}
REQUIRED = {"log": (), "command": ("command",), "webhook": ("url",), "email": ("host", "from", "to")}
HELP: Mapping[str, str] = {
    "command": "The program and its arguments, as a list; no shell reads it",
    "timeout_s": "Seconds it may take; 30 if omitted, 10 for a webhook",
    "url": "Where alarms are posted to; may hold `${VARIABLE}`",
    "secret": "Signs each alarm, by reference: `${ALARM_SECRET}`",
    "host": "The mail server",
    "port": "Its port; if omitted, the usual one of `security`",
    "security": "`starttls`, `ssl` or `none`; `starttls` if omitted",
    "user": "The name to sign in with; needs `password`",
    "password": "By reference: `${SMTP_PASSWORD}`",
    "from": "The address of the sender",
    "to": "Addresses of those who get it, as a list",
}
"""What the fields of all kinds mean."""
