"""Alarms: what is news to whom, and channels as they are defined."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange import alarm_channels
from rowen.core.exchange.alarm import Alarm, Channel, Severity, What, after_delivery, channels_for, verdict
from rowen.core.rules.schedule import Failure
from rowen.core.run import RunStatus
from rowen.errors import ConfigError

AT = datetime(2026, 5, 1, 3, 30, tzinfo=UTC)
LOG = Channel(name="log", kind="log")


def alarm(what: What = What.ERROR, *, failures: int = 3, source: str | None = "docs", **more: Any) -> Alarm:
    sink = None if source else "people"
    return Alarm(what=what, source=source, sink=sink, message="it broke", failures=failures, at=AT, **more)


def names(channels: list[Channel]) -> list[str]:
    return [channel.name for channel in channels]


def read(**table: Any) -> Channel:
    (channel,) = alarm_channels.read([table], where="rowen.toml")
    return channel


@pytest.mark.parametrize(
    ("status", "failure", "what"),
    [
        (RunStatus.COMPLETED, None, What.RECOVERED),
        (RunStatus.PARTIAL, None, What.RECOVERED),
        (RunStatus.PARTIAL, Failure.TRANSIENT, What.ERROR),
        (RunStatus.FAILED, Failure.TRANSIENT, What.ERROR),
        (RunStatus.FAILED, Failure.RATE_LIMIT, What.ERROR),
        (RunStatus.FAILED, Failure.FATAL, What.FATAL),
        (RunStatus.HELD, Failure.TRANSIENT, What.HELD),
        (RunStatus.CANCELLED, None, None),
    ],
)
def test_the_end_of_a_turn_is_worth_one_word(
    status: RunStatus, failure: Failure | None, what: What | None
) -> None:
    assert verdict(status, failure) is what


def test_a_streak_is_told_once_and_again_only_after_it_recovered() -> None:
    assert channels_for([LOG], alarm(), {}) == [LOG]
    raised = after_delivery({}, alarm(), [LOG])
    assert channels_for([LOG], alarm(failures=9), raised) == []
    good = alarm(What.RECOVERED)
    assert channels_for([LOG], good, raised) == [LOG]
    assert after_delivery(raised, good, [LOG]) == {}
    assert channels_for([LOG], alarm(), {}) == [LOG]


def test_good_news_is_for_whoever_had_the_bad() -> None:
    others = Channel(name="others", kind="log", severity=Severity.CRITICAL)
    silent = Channel(name="silent", kind="log", on=frozenset({What.ERROR}))
    raised = {"others": ["fatal"], "silent": ["error"]}
    assert names(channels_for([LOG, others, silent], alarm(What.RECOVERED), raised)) == ["others"]


def test_graver_is_news_and_less_grave_is_not() -> None:
    raised = after_delivery({}, alarm(What.ERROR), [LOG])
    assert channels_for([LOG], alarm(What.FATAL), raised) == [LOG]
    raised = after_delivery(raised, alarm(What.FATAL), [LOG])
    assert raised == {"log": ["error", "fatal"]}
    assert channels_for([LOG], alarm(What.ERROR), {"log": ["fatal"]}) == []
    assert channels_for([LOG], alarm(What.HELD), {"log": ["error"]}) == [LOG]


def test_a_channel_may_wait_for_more_failures() -> None:
    patient = Channel(name="patient", kind="log", after=5)
    assert names(channels_for([LOG, patient], alarm(failures=4), {})) == ["log"]
    assert names(channels_for([LOG, patient], alarm(failures=5), {})) == ["log", "patient"]
    assert names(channels_for([LOG, patient], alarm(What.FATAL, failures=1), {})) == ["log", "patient"]
    assert channels_for([LOG], alarm(failures=2), {}, patience=3) == []


def test_a_channel_that_was_not_told_is_told_the_next_time() -> None:
    mail = Channel(name="mail", kind="email")
    raised = after_delivery({}, alarm(), [LOG])
    assert names(channels_for([LOG, mail], alarm(failures=6), raised)) == ["mail"]


def test_a_channel_hears_of_the_sources_that_matter_to_it() -> None:
    jobs = Channel(name="jobs", kind="log", sources=("jobs-*", "api@3"))
    assert jobs.wants(alarm(source="jobs-es"))
    assert jobs.wants(alarm(source="jobs-es@2"))
    assert jobs.wants(alarm(source="api@3"))
    assert not jobs.wants(alarm(source="api@4"))
    assert jobs.wants(alarm(What.SINK, source=None))


def test_a_channel_hears_what_is_grave_enough() -> None:
    grave = Channel(name="grave", kind="log", severity=Severity.CRITICAL)
    assert grave.wants(alarm(What.FATAL))
    assert not grave.wants(alarm(What.ERROR))


def test_an_alarm_reads_well() -> None:
    assert alarm().title == "source `docs` failed, 3 times in a row"
    assert alarm(failures=1).title == "source `docs` failed"
    assert alarm(What.SINK, source=None).title == "sink `people` failed, 3 times in a row"
    assert alarm(What.HELD).title == "source `docs`: a generation is held for approval"
    assert alarm(What.FATAL).title == "source `docs` stopped: only a person can fix it"
    good = Alarm(what=What.RECOVERED, source="docs", at=AT)
    assert good.text == "source `docs` works again"
    assert good.as_dict()["message"] == good.text
    assert alarm(hint="do this").text == "source `docs` failed, 3 times in a row\n\nit broke\nhint: do this"


@given(st.text())
def test_a_line_stays_one_line(message: str) -> None:
    line = Alarm(what=What.ERROR, source="docs", message=message, at=AT).line
    assert line.isprintable()
    assert line.startswith("alarm what=error severity=error source=docs message=")


@pytest.mark.parametrize(
    "table",
    [
        {"kind": "log"},
        {"kind": "log", "name": "mine", "on": ["held"], "severity": "warning", "after": 2, "sources": "a*"},
        {"kind": "command", "command": ["notify", "-u"], "timeout_s": 5},
        {"kind": "webhook", "url": "https://hooks.example/x", "secret": "${HOOK}"},
        {"kind": "webhook", "url": "${HOOK_URL}"},
        {"kind": "email", "host": "mail.example", "from": "a@b.example", "to": ["c@d.example"]},
        {
            "kind": "email",
            "host": "mail.example",
            "port": 2525,
            "security": "ssl",
            "user": "rowen",
            "password": "${MAIL}",
            "from": "a@b.example",
            "to": "c@d.example",
        },
    ],
)
def test_a_channel_can_be_stored_and_read_again(table: dict[str, Any]) -> None:
    channel = read(**table)
    assert read(**alarm_channels.as_table(channel)) == channel


def test_channels_get_names_of_their_own() -> None:
    tables = [{"kind": "log"}, {"kind": "log"}, {"kind": "log", "name": "mine"}]
    assert names(alarm_channels.read(tables, where="x")) == ["log", "log-2", "mine"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "alarm 1: `kind` is missing"),
        ({"kind": "pager"}, "`pager`, which is not a kind of channel"),
        ({"kind": "log", "one": 1}, "unknown field `one`"),
        ({"kind": "log", "on": ["errors"]}, "expected a list of error, fatal"),
        ({"kind": "log", "on": []}, "expected a list of error, fatal"),
        ({"kind": "log", "on": 3}, "expected a list of error, fatal"),
        ({"kind": "log", "severity": "bad"}, "expected info, warning"),
        ({"kind": "log", "after": 0}, "expected 1 to 1000"),
        ({"kind": "log", "after": True}, "expected 1 to 1000"),
        ({"kind": "log", "sources": [1]}, "expected a list of words"),
        ({"kind": "command"}, "`command` is missing"),
        ({"kind": "command", "command": []}, "expected at least one"),
        ({"kind": "command", "command": ["x"], "timeout_s": 0}, "expected 0.1 to 600"),
        ({"kind": "webhook", "url": "ftp://x"}, "expected an http or https address"),
        ({"kind": "webhook", "url": "https://user:hunter2@x.example/"}, "holds a secret"),
        ({"kind": "webhook", "url": "https://x.example/?token=hunter2"}, "holds a secret"),
        ({"kind": "webhook", "url": "https://x.example", "secret": "hunter2"}, "expected a reference"),
        ({"kind": "email", "host": "x", "from": "a@b"}, "`to` is missing"),
        ({"kind": "email", "host": "", "from": "a@b", "to": ["a@b"]}, "expected a line of text"),
        ({"kind": "email", "host": "x", "from": "a@b", "to": ["a@b"], "port": 0}, "expected 1 to 65535"),
        ({"kind": "email", "host": "x", "from": "a@b", "to": ["a@b"], "security": "tls"}, "one of starttls"),
        ({"kind": "email", "host": "x", "from": "a@b", "to": ["a@b"], "user": "me"}, "go together"),
        (
            {
                "kind": "email",
                "host": "x",
                "from": "a@b",
                "to": ["a@b"],
                "user": "me",
                "password": "${P}",
                "security": "none",
            },
            "travel in clear",
        ),
    ],
)
def test_a_wrong_channel_is_refused_without_repeating_secrets(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(**table)
    assert said in caught.value.message
    assert "hunter2" not in f"{caught.value.message} {caught.value.hint} {caught.value.__cause__}"


def test_a_command_with_its_words_in_one_text_would_have_been_one_word() -> None:
    with pytest.raises(ConfigError, match="`command`: expected a list of words") as caught:
        read(kind="command", command="notify-send hunter2")
    assert "hunter2" not in caught.value.message
    assert read(kind="command", command="notify-send").settings["command"] == ["notify-send"]


def test_two_channels_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="called `a` too"):
        alarm_channels.read([{"kind": "log", "name": "a"}, {"kind": "log", "name": "a"}], where="x")


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="not a list of tables"):
        alarm_channels.read(["log"], where="x")
