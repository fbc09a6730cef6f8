"""Alarms over real channels: a log, a program, a web hook, a mail server."""

from __future__ import annotations

import json
import logging
import os
import smtplib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from rowen.adapters.alarms import Deliveries, mail
from rowen.adapters.http import open_fetcher
from rowen.core.exchange.alarm import Alarm, What
from rowen.core.exchange.delivery import signature
from rowen.errors import ConfigError, PermanentError, RowenError, ServerFailed, TransientError
from rowen.ports.alarms import Route
from tests.support.site import Site
from tests.support.smtp_server import SmtpServer

pytestmark = pytest.mark.anyio

AT = datetime(2026, 5, 1, 3, 30, tzinfo=UTC)
ALARM = Alarm(
    what=What.ERROR,
    source="docs",
    message="`https://x.example`: 500 from the server\nX-Injected: $(touch pwned)",
    hint="look at it",
    failures=3,
    at=AT,
)


class Hook(Site):
    """A site that keeps what was posted to it."""

    def __init__(self) -> None:
        super().__init__()
        self.posted: list[bytes] = []

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.posted.append(await request.read())
        return await super()._answer(request)


@pytest.fixture
def hook() -> Iterator[Hook]:
    with Hook() as site:
        site.set("/hook", "taken")
        yield site


async def deliver(kind: str, alarm: Alarm = ALARM, **settings: Any) -> None:
    deliveries = Deliveries(open_fetcher, dict(os.environ), user_agent="rowen-test")
    await deliveries(Route(name="mine", kind=kind, settings=settings), alarm)


async def test_a_log_gets_one_line_of_fields(caplog: pytest.LogCaptureFixture) -> None:
    await deliver("log")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("rowen.alarms", logging.ERROR)
    assert record.getMessage() == (
        "alarm what=error severity=error source=docs"
        ' message="`https://x.example`: 500 from the server\\nX-Injected: $(touch pwned)"'
        ' hint="look at it" failures=3 at=2026-05-01T03:30:00+00:00'
    )


async def test_good_news_is_seen_without_any_set_up_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    await deliver("log", Alarm(what=What.RECOVERED, source="docs", at=AT))
    assert caplog.records[0].levelno == logging.WARNING


PROGRAM = """
import json, os, sys
seen = {"stdin": json.load(sys.stdin), "argv": sys.argv[1:]}
seen["env"] = {k: v for k, v in os.environ.items() if k.startswith("ROWEN_ALARM_")}
open(sys.argv[1], "w").write(json.dumps(seen))
"""


async def test_a_program_gets_the_alarm_on_its_input_and_in_variables(tmp_path: Path) -> None:
    out = tmp_path / "seen.json"
    await deliver("command", command=[sys.executable, "-c", PROGRAM, str(out), "$HOME; ls"])
    seen = json.loads(out.read_text())
    assert seen["stdin"] == ALARM.as_dict()
    assert seen["argv"][1] == "$HOME; ls"
    assert seen["env"]["ROWEN_ALARM_WHAT"] == "error"
    assert seen["env"]["ROWEN_ALARM_SOURCE"] == "docs"
    assert seen["env"]["ROWEN_ALARM_SINK"] == ""
    assert seen["env"]["ROWEN_ALARM_MESSAGE"] == ALARM.message
    assert seen["env"]["ROWEN_ALARM_FAILURES"] == "3"
    assert seen["env"]["ROWEN_ALARM_TITLE"] == "source `docs` failed, 3 times in a row"


async def test_a_message_with_odd_characters_arrives(tmp_path: Path) -> None:
    odd = Alarm(what=What.ERROR, source="docs", message="a\0b\ud800c\u2028", at=AT)
    await deliver("command", odd, command=[sys.executable, "-c", "import sys; sys.stdin.read()"])
    with SmtpServer(tmp_path, security="none") as server:
        await deliver("email", odd, **letter(server))
    assert "b?c" in server.messages[0].message.get_content()


async def test_a_program_that_reads_nothing_is_fine() -> None:
    long = Alarm(what=What.ERROR, source="docs", message="x" * 100_000, at=AT)
    await deliver("command", long, command=[sys.executable, "-c", "pass"])


async def test_a_program_that_fails_is_told_with_its_last_words() -> None:
    program = "import sys; print('first\\nno pager', file=sys.stderr); sys.exit(3)"
    with pytest.raises(PermanentError, match="ended with 3, no pager"):
        await deliver("command", command=[sys.executable, "-c", program])


async def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with pytest.raises(PermanentError, match=r"took longer than 0\.5 s"):
        await deliver("command", command=[sys.executable, "-c", program], timeout_s=0.5)


@pytest.mark.parametrize("program", ["/no/such/program", "/", "a\0b"])
async def test_a_program_that_cannot_be_started_is_a_wrong_setting(program: str) -> None:
    with pytest.raises(ConfigError, match="cannot be started"):
        await deliver("command", command=[program])


async def test_a_hook_gets_json_and_a_signature_over_time_and_body(hook: Hook) -> None:
    await deliver("webhook", url=f"{hook.url}/hook", secret="hook-secret")
    (body,) = hook.posted
    assert json.loads(body) == {"text": ALARM.text, **ALARM.as_dict()}
    asked = hook.requests[0]
    assert asked.method == "POST"
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["X-Rowen-Event"] == "alarm"
    assert asked.headers["User-Agent"] == "rowen-test"
    timestamp = asked.headers["X-Rowen-Timestamp"]
    assert timestamp == str(int(AT.timestamp()))
    assert asked.headers["X-Rowen-Signature"] == signature("hook-secret", timestamp, body)


async def test_a_hook_without_a_secret_is_not_signed(hook: Hook) -> None:
    await deliver("webhook", url=f"{hook.url}/hook")
    assert "X-Rowen-Signature" not in hook.requests[0].headers


@pytest.mark.parametrize(
    ("status", "kind"),
    [(503, ServerFailed), (429, ServerFailed), (404, PermanentError), (302, PermanentError)],
)
async def test_a_hook_that_does_not_take_it_says_so(hook: Hook, status: int, kind: type[RowenError]) -> None:
    hook.everything_answers(status)
    with pytest.raises(kind, match=f"alarm channel `mine`: {status} from the receiver"):
        await deliver("webhook", url=f"{hook.url}/secret-path")


async def test_a_hook_that_is_away_is_named_by_its_channel_only(hook: Hook) -> None:
    hook.set("/secret-path", reset=True)
    with pytest.raises(TransientError) as caught:
        await deliver("webhook", url=f"{hook.url}/secret-path")
    assert caught.value.message == "alarm channel `mine`: the alarm did not arrive (connection_failed)"
    assert caught.value.__suppress_context__


def letter(server: SmtpServer, **more: Any) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "security": server.security,
        "from": "Rowen <rowen@example.org>",
        "to": ["ops@example.org", "dev@example.org"],
        **more,
    }


@pytest.mark.parametrize("security", ["starttls", "ssl"])
async def test_a_mail_goes_out_encrypted_to_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, security: str
) -> None:
    with SmtpServer(tmp_path, security=security, users={"rowen": "pass word"}) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        await deliver("email", **letter(server, user="rowen", password="pass word"))
    (received,) = server.messages
    assert received.encrypted
    assert received.user == "rowen"
    assert received.sender == "rowen@example.org"
    assert received.recipients == ["ops@example.org", "dev@example.org"]
    message = received.message
    assert message["Subject"] == "[Rowen] source `docs` failed, 3 times in a row"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["X-Injected"] is None
    assert message.get_content().splitlines()[-2:] == ["", "2026-05-01 03:30 UTC"]
    assert "hint: look at it" in message.get_content()


async def test_a_mail_may_go_out_in_clear_inside_a_house(tmp_path: Path) -> None:
    with SmtpServer(tmp_path, security="none") as server:
        await deliver("email", **letter(server))
    assert not server.messages[0].encrypted


async def test_a_server_nobody_vouches_for_gets_no_password(tmp_path: Path) -> None:
    with SmtpServer(tmp_path, users={"rowen": "x"}) as server:
        with pytest.raises(ConfigError, match="certificate is not trusted"):
            await deliver("email", **letter(server, user="rowen", password="x"))
        assert "AUTH" not in server.commands


async def test_a_server_that_offers_no_encryption_gets_no_mail(tmp_path: Path) -> None:
    with SmtpServer(tmp_path, security="none") as server:
        with pytest.raises(ConfigError, match="does not offer"):
            await deliver("email", **letter(server, security="starttls"))
        assert server.messages == []


async def test_a_wrong_password_is_a_wrong_setting_and_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SmtpServer(tmp_path, users={"rowen": "right"}) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        with pytest.raises(ConfigError, match="535, user name and password") as caught:
            await deliver("email", **letter(server, user="rowen", password="wrong-password"))
    assert "wrong-password" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"


@pytest.mark.parametrize(
    ("command", "answer", "kind"),
    [
        ("MAIL", "451 later", TransientError),
        ("MAIL", "550 never", ConfigError),
        ("RCPT", "450 mailbox busy", TransientError),
        ("RCPT", "550 no such user", ConfigError),
        ("DATA", "452 full", TransientError),
        ("EHLO", "421 closing", TransientError),
    ],
)
async def test_a_server_that_refuses_for_now_may_be_asked_again(
    tmp_path: Path, command: str, answer: str, kind: type[RowenError]
) -> None:
    with SmtpServer(tmp_path, security="none") as server:
        server.answers[command] = answer
        if command == "EHLO":
            server.answers["HELO"] = answer
        with pytest.raises(kind):
            await deliver("email", **letter(server))


async def test_a_server_that_is_away_may_be_asked_again(tmp_path: Path) -> None:
    with SmtpServer(tmp_path, security="none") as server:
        settings = letter(server)
    with pytest.raises(TransientError, match="Connection refused"):
        await deliver("email", **settings)


async def test_an_address_that_is_none_is_a_wrong_setting(tmp_path: Path) -> None:
    with SmtpServer(tmp_path, security="none") as server:
        with pytest.raises(ConfigError):
            await deliver("email", **letter(server, **{"from": "a\nBcc: everybody@example.org"}))
        assert server.messages == []


def test_every_exception_of_the_mail_client_is_translated() -> None:
    route = Route(name="mine", kind="email", settings={"host": "mail.example"})
    made: list[Exception] = [
        smtplib.SMTPException("x"),
        smtplib.SMTPNotSupportedError("x"),
        smtplib.SMTPServerDisconnected("x"),
        smtplib.SMTPResponseException(450, "x"),
        smtplib.SMTPSenderRefused(550, b"x", "a"),
        smtplib.SMTPRecipientsRefused({"a": (550, b"x")}),
        smtplib.SMTPDataError(554, "x"),
        smtplib.SMTPConnectError(421, "x"),
        smtplib.SMTPHeloError(500, "x"),
        smtplib.SMTPAuthenticationError(535, "x"),
    ]
    known = {one for one in vars(smtplib).values() if isinstance(one, type) and issubclass(one, Exception)}
    assert {type(one) for one in made} == known
    for exc in made:
        assert isinstance(mail._translated(exc, route), RowenError)


async def test_a_kind_that_is_none_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="no kind `pager`"):
        await deliver("pager")
