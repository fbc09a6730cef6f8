"""Send the alarm as an e-mail, over TLS unless `security = "none"`.

The standard library's client blocks, so it works in a thread. A server that refuses for now (4xx) is a
`TransientError`; what it refuses for good is a `ConfigError`.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid

from rowen.core.exchange.alarm import Alarm
from rowen.core.exchange.alarm_channels import PORTS
from rowen.errors import ConfigError, RowenError, TransientError
from rowen.ports.alarms import Route

TIMEOUT_S = 30.0
_SUBJECT_CHARS = 150


async def deliver(route: Route, alarm: Alarm) -> None:
    try:
        await asyncio.to_thread(_send, route, written(route, alarm))
    except (smtplib.SMTPException, OSError, ValueError) as exc:
        problem = _translated(exc, route)
    else:
        return
    # Not chained: an exception of the client may quote the conversation.
    raise problem


def written(route: Route, alarm: Alarm) -> EmailMessage:
    message = EmailMessage()
    message["From"] = route.settings["from"]
    message["To"] = ", ".join(route.settings["to"])
    message["Subject"] = _line(f"[Rowen] {alarm.title}")[:_SUBJECT_CHARS]
    message["Date"] = format_datetime(alarm.at)
    message["Message-ID"] = make_msgid(domain="rowen.invalid")
    # Mail programs send no absence note to a message that is marked so.
    message["Auto-Submitted"] = "auto-generated"
    message["X-Rowen-Alarm"] = alarm.what.value
    # Half a surrogate pair, quoted from a broken page, has no UTF-8.
    text = alarm.text.encode("utf-8", "replace").decode()
    message.set_content(f"{text}\n\n{alarm.at:%Y-%m-%d %H:%M} UTC\n")
    return message


def _send(route: Route, message: EmailMessage) -> None:
    settings = route.settings
    security = settings.get("security", "starttls")
    host, port = settings["host"], settings.get("port", PORTS[security])
    timeout_s = settings.get("timeout_s", TIMEOUT_S)
    if security == "ssl":
        client: smtplib.SMTP = smtplib.SMTP_SSL(
            host, port, timeout=timeout_s, context=ssl.create_default_context()
        )
    else:
        client = smtplib.SMTP(host, port, timeout=timeout_s)
    with client:
        if security == "starttls":
            client.starttls(context=ssl.create_default_context())
        if settings.get("user"):
            client.login(settings["user"], settings["password"])
        client.send_message(message)


def _translated(exc: Exception, route: Route) -> RowenError:
    where = f"alarm channel `{route.name}`: `{route.settings['host']}`"
    if isinstance(exc, smtplib.SMTPAuthenticationError):
        return ConfigError(
            f"{where}: {exc.smtp_code}, user name and password are not accepted",
            hint="look at the variables that `user` and `password` refer to",
        )
    if isinstance(exc, smtplib.SMTPResponseException):
        kind = TransientError if 400 <= exc.smtp_code < 500 or exc.smtp_code < 0 else ConfigError
        return kind(f"{where}: {exc.smtp_code} from the server")
    if isinstance(exc, smtplib.SMTPRecipientsRefused):
        codes = sorted({code for code, _ in exc.recipients.values()})
        kind = TransientError if all(400 <= code < 500 for code in codes) else ConfigError
        return kind(f"{where}: recipients refused with {', '.join(map(str, codes))}")
    if isinstance(exc, smtplib.SMTPNotSupportedError):
        return ConfigError(
            f"{where}: the server does not offer what the settings ask for", hint="see `security`"
        )
    if isinstance(exc, ssl.SSLCertVerificationError):
        return ConfigError(f"{where}: its certificate is not trusted, {exc.verify_message}")
    if isinstance(exc, ValueError):
        return ConfigError(f"{where}: an address in `from` or `to` is not one")
    cause = getattr(exc, "strerror", None) or type(exc).__name__
    return TransientError(f"{where}: no mail could be sent, {cause}")


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
