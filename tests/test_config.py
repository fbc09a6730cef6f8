"""Settings: defaults, then a file, then the environment, then flags; and every mistake is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowen import __version__
from rowen.config import SECTIONS, Setting, load
from rowen.doors.cli import main
from rowen.errors import ConfigError

ROOT = Path(__file__).parents[1]


def shown(settings: list[Setting], name: str) -> tuple[object, str]:
    (found,) = [one for one in settings if one.name == name]
    return found.value, found.origin


def test_defaults_hold_when_nobody_says_anything() -> None:
    config, settings = load(environment={})
    assert config.fetch.timeout_s == 30.0
    assert {one.origin for one in settings} == {"default"}


def test_a_file_beats_the_default_the_environment_the_file_and_a_flag_all(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[store]\nurl = "sqlite:///file.db"\n[fetch]\ntimeout_s = 5\nretries = 1\n')
    environment = {"ROWEN_CONFIG": str(file), "ROWEN_FETCH_TIMEOUT_S": "7", "ROWEN_DB": "sqlite:///env.db"}
    config, settings = load(environment=environment)
    assert shown(settings, "fetch.retries") == (1, f"`{file}`")
    assert shown(settings, "fetch.timeout_s") == (7.0, "`ROWEN_FETCH_TIMEOUT_S`")
    assert config.store.url == "sqlite:///env.db"
    config, settings = load(db="sqlite:///flag.db", environment=environment)
    assert shown(settings, "store.url") == ("sqlite:///flag.db", "--db")


def test_the_breaker_has_the_variables_it_always_had() -> None:
    config, _ = load(
        environment={
            "CB_FAILURE_THRESHOLD": "2",
            "CB_RECOVERY_TIMEOUT_SECS": "11",
            "CB_SUCCESS_THRESHOLD": "3",
            "CB_RATE_LIMIT_BACKOFF_MULTIPLIER": "4",
            "CB_MAX_RECOVERY_TIMEOUT_SECS": "99",
        }
    )
    breaker = config.breaker
    assert (breaker.failure_threshold, breaker.recovery_timeout_s, breaker.success_threshold) == (2, 11.0, 3)
    assert (breaker.rate_limit_multiplier, breaker.max_recovery_timeout_s) == (4.0, 99.0)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"ROWEN_FETCH_RETRIES": "many"}, "setting `fetch.retries`: expected a whole number, got `many`"),
        ({"ROWEN_FETCH_TIMEOUT_S": "0"}, "setting `fetch.timeout_s`: expected 0.1 to 3600 seconds, got `0`"),
        (
            {"ROWEN_FETCH_TIMEOUT_S": "2h"},
            "`fetch.timeout_s`: expected 0.1 to 3600 seconds, got `2h`",
        ),
        ({"ROWEN_FETCH_TIMEOUT_S": "soon"}, "`fetch.timeout_s`: expected a duration such as `30s`"),
        ({"ROWEN_FETCH_ALLOW_PRIVATE": "perhaps"}, "expected true or false, got `perhaps`"),
        ({"ROWEN_CONFIG": "/no/such/file.toml"}, "settings file `/no/such/file.toml`: cannot be read"),
    ],
)
def test_a_mistake_is_named_with_what_was_expected(environment: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(environment=environment)
    assert message in caught.value.message


def test_seconds_may_be_written_as_a_duration(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[fetch]\ntimeout_s = "2m"\nretry_max_wait_s = 5.5\n')
    config, _ = load(environment={"ROWEN_CONFIG": str(file), "ROWEN_WORKERS_HELD_S": "1m30s"})
    assert (config.fetch.timeout_s, config.fetch.retry_max_wait_s, config.workers.held_s) == (120, 5.5, 90)


def test_a_misspelt_setting_in_a_file_gets_a_suggestion(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[fetch]\ntimeout = 5\n")
    with pytest.raises(ConfigError) as caught:
        load(environment={"ROWEN_CONFIG": str(file)})
    assert caught.value.hint == "did you mean `fetch.timeout_s`?"


def test_every_setting_is_explained_and_can_be_set_by_a_variable() -> None:
    _, settings = load(environment={})
    assert {one.name.partition(".")[0] for one in settings} == set(SECTIONS)
    for one in settings:
        assert one.help, f"{one.name} says what it is for"
        assert one.variable.startswith("ROWEN_")


def test_servers_are_told_the_version_that_asks() -> None:
    config, _ = load()
    assert __version__.startswith(config.fetch.user_agent.removeprefix("rowen/"))


def test_a_value_with_an_at_sign_is_shown_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROWEN_EMBEDDING_OPTIONS", '{"vectors": "@"}')
    assert main(["config", "show", "--json"]) == 0
    shown = {one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["settings"]}
    assert shown["embedding.options"] == '{"vectors": "@"}'
