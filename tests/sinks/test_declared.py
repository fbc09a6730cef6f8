"""Sinks in `rowen.toml`: what may stand there, and which sources each is about."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest

from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.source import Source, Status
from rowen.errors import ConfigError
from rowen.managing.registry import rules as registry
from rowen.sinks import declared as sinks
from rowen.sinks.webhook import sink as webhook


def a_source(name: str, version: str = "", generation: int = 1) -> Source:
    return Source(
        id=len(name) + len(version),
        key="k",
        kind="web",
        name=name,
        version=version,
        location="https://x.example/",
        params={},
        status=Status.SUCCESS,
        active_generation=generation,
        last_generation=generation,
        held_generation=None,
        held_reason=None,
        last_run_at=None,
        last_success_at=None,
        last_error_at=None,
        last_error=None,
        watermark=None,
        last_processed_date=None,
        consecutive_failures=0,
        metadata={},
        created_at=datetime(2026, 5, 1, tzinfo=UTC),
    )


def entry(**settings: Any) -> SinkEntry:
    return SinkEntry(name="s", kind="webhook", settings=settings)


def test_a_list_of_sinks_is_read() -> None:
    text = """
[[sinks]]
name = "index"
kind = "webhook"
sources = "docs*"
url = "https://index.example/"
header = { X-Key = "${KEY}" }
from = 03:00:00
"""
    (found,) = registry.read(text, file="rowen.toml").sinks
    assert (found.name, found.kind) == ("index", "webhook")
    assert found.settings == {
        "sources": ["docs*"],
        "url": "https://index.example/",
        "header": {"X-Key": "${KEY}"},
        "from": "03:00:00",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[sinks]]", "sink 1: `name` is missing"),
        ('[[sinks]]\nname = "x"', "sink 1: `kind` is missing"),
        ('[[sinks]]\nname = "a b"\nkind = "atom"', "expected up to 64 letters"),
        ('[sinks]\nname = "x"', "`sinks` is not a list of tables"),
        ('[[sinks]]\nname = "x"\nkind = "atom"\nsources = [1]', "`sources` is not a list of names"),
        ('[[sinks]]\nname="x"\nkind="a"\n[[sinks]]\nname="x"\nkind="a"', "stands there 2 times"),
        ('[[alarms]]\nkind = "smoke"', "not a kind of channel"),
    ],
)
def test_a_list_with_a_mistake_is_refused_whole(text: str, message: str) -> None:
    assert tomllib.loads(text)
    with pytest.raises(ConfigError, match=message):
        registry.read(text, file="rowen.toml")


def test_settings_are_checked_by_the_kind() -> None:
    given = entry(url="https://x.example/", text=True, batch=5, header={"X-Key": "${KEY}"}, sources=["docs"])
    assert sinks.checked(webhook.PARAMS, given) == {
        "url": "https://x.example/",
        "text": True,
        "batch": 5,
        "header": {"X-Key": "${KEY}"},
        "sources": ["docs"],
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ulr": "https://x.example/"}, "no such setting for a sink of kind `webhook`"),
        ({"batch": 1000}, "expected 1 to 100"),
        ({"text": "perhaps"}, "expected true or false"),
        ({"start": "later"}, "expected one of now, beginning"),
        ({"secret": "in-clear"}, "expected a reference"),
        ({"url": "https://user:secret@x.example/"}, "expected no secret in it"),
        ({"url": "https://x.example/?token=secret"}, "expected no secret in it"),
        ({"url": "ftp://x.example/"}, "expected an http or https address"),
        ({"header": "X-Key"}, "expected"),
    ],
)
def test_a_setting_that_cannot_be_is_said_without_its_secret(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        sinks.checked(webhook.PARAMS, entry(**settings))
    assert "secret@" not in caught.value.message
    assert "in-clear" not in caught.value.message


def test_a_misspelt_sources_is_recognised() -> None:
    with pytest.raises(ConfigError, match="setting `sourcs`") as caught:
        sinks.checked(webhook.PARAMS, entry(sourcs=["docs"]))
    assert caught.value.hint == "did you mean `sources`?"
    with pytest.raises(ConfigError, match="setting `zzz`") as caught:
        sinks.checked(webhook.PARAMS, entry(zzz=1))
    assert "sources" in (caught.value.hint or "")


def test_globs_fit_labels_and_names() -> None:
    there = [a_source("docs"), a_source("api", "1.2"), a_source("api", "2.0.1"), a_source("news")]

    def labels(*globs: str) -> list[str]:
        return [source.label for source in sinks.matching({"sources": list(globs)}, there)]

    assert labels() == ["docs", "api@1.2", "api@2.0.1", "news"]
    assert labels("api") == ["api@1.2", "api@2.0.1"]
    assert labels("api@1.*", "n*") == ["api@1.2", "news"]
    assert sinks.matching_ids({}, there) is None
    assert sinks.matching_ids({"sources": ["nothing"]}, there) == []


def test_a_fingerprint_changes_with_settings_and_with_what_readers_see() -> None:
    one = sinks.fingerprint({"file": "a"}, [a_source("docs")])
    assert one == sinks.fingerprint({"file": "a"}, [a_source("docs")])
    assert one != sinks.fingerprint({"file": "b"}, [a_source("docs")])
    assert one != sinks.fingerprint({"file": "a"}, [a_source("docs", generation=2)])
    assert one != sinks.fingerprint({"file": "a"}, [])


def test_what_a_list_changes_is_said_with_its_reason() -> None:
    stored = Sink(name="s", kind="webhook", settings={"url": "u"})
    assert sinks.change(entry(), {"url": "u"}, None)[0] == "add"
    assert sinks.change(entry(), {"url": "u"}, stored) == ("keep", "as it is")
    assert sinks.change(entry(), {"url": "v"}, stored)[0] == "change"
    other = SinkEntry(name="s", kind="atom")
    assert sinks.change(other, {}, stored) == ("change", "another kind: it starts anew as `atom`")
