"""Settings: defaults, then a file, then the environment, then flags, into frozen dataclasses.

Read once and passed down; no other module reads the environment. `rowen config show` prints every value with
where it came from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from rowen import project_file
from rowen.core.params import switch
from rowen.core.rules.duration import Duration
from rowen.errors import ConfigError, did_you_mean
from rowen.project_file import variable_of
from rowen.records import NamedTuple, dataclass


def setting(default: Any, *, help: str, low: float | None = None, high: float | None = None) -> Any:  # noqa: A002
    return field(default=default, metadata={"help": help, "low": low, "high": high})


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreConfig:
    url: str = setting("", help="The store: `sqlite:///path`; empty for rowen.db in the user's data folder")
    busy_timeout_s: float = setting(5.0, help="How long to wait for another process's write", low=0, high=600)
    auto_upgrade: bool = setting(
        True, help="Bring the schema up to date when the store is opened; else `rowen db upgrade` does"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchConfig:
    user_agent: str = setting(
        "rowen/0.2", help="The User-Agent of requests; robots.txt is read for its first word"
    )
    timeout_s: float = setting(30.0, help="Seconds for one request", low=0.1, high=3600)
    max_body_bytes: int = setting(10_000_000, help="Larger bodies are refused", low=1_000, high=1_000_000_000)
    allow_private: bool = setting(
        False,
        help="Allow private addresses in links, redirects and what the API adds; typed ones are allowed",
    )
    retries: int = setting(
        3, help="Attempts after the first, on 5xx, 429, time-outs and resets", low=0, high=20
    )
    retry_base_s: float = setting(0.5, help="The first wait; it doubles each time", low=0, high=600)
    retry_max_wait_s: float = setting(
        60.0, help="A server that asks for a longer wait is not retried in this run", low=0, high=86_400
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvertConfig:
    workers: int = setting(2, help="Processes that parse fetched pages", low=1, high=64)
    timeout_s: float = setting(20.0, help="Seconds one page may take to parse", low=0.1, high=600)


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderConfig:
    browser: str = setting(
        "", help="The Chromium that renders JavaScript pages; empty for the first one on the PATH"
    )
    sandbox: bool = setting(
        True, help="Chromium's own sandbox; it cannot start for root, where it is off, and in some containers"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingConfig:
    provider: str = setting(
        "static", help="What turns text into vectors: static, minilm, openai, gemini, ollama, ..."
    )
    model: str = setting("", help="The provider's model; empty for its usual one")
    base_url: str = setting("", help="Where the provider answers; empty for its own address")
    dimensions: int = setting(0, help="Length of the vectors; 0 for the model's own", low=0, high=100_000)
    api_key_env: str = setting("", help="The variable that holds the key; empty for the provider's usual one")
    options: str = setting("", help="Settings of a plug-in's provider: a table, or JSON in a variable")
    timeout_s: float = setting(30.0, help="Seconds for one call", low=0.1, high=3600)
    concurrency: int = setting(4, help="Calls to a remote provider at a time", low=1, high=64)
    price_per_million_tokens: float = setting(
        0.0, help="For the estimate of `rowen plan`", low=0, high=10_000
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakerConfig:
    failure_threshold: int = setting(5, help="Failures in a row that open the circuit", low=1, high=1000)
    recovery_timeout_s: float = setting(30.0, help="Seconds before it is tried again", low=0, high=86_400)
    success_threshold: int = setting(2, help="Successes that close it", low=1, high=1000)
    rate_limit_multiplier: float = setting(2.0, help="How much longer it waits after a 429", low=1, high=100)
    max_recovery_timeout_s: float = setting(300.0, help="The longest it waits", low=0, high=86_400)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunsConfig:
    max_parallel: int = setting(1, help="Runs that may be under way at a time in this store", low=1, high=64)
    time_limit_s: float = setting(
        3600.0,
        help="How long a run may take before it ends as partial and the next continues; 0 for no limit",
        low=0,
        high=2_592_000,
    )
    every: str = setting("1d", help="How often `rowen serve` syncs a source that has no interval of its own")


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkersConfig:
    concurrency: int = setting(2, help="Tickets that one `rowen worker` works on at a time", low=1, high=64)
    held_s: float = setting(
        30.0,
        help="A ticket whose worker did not report for this long goes to another worker",
        low=1,
        high=3600,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryConfig:
    keep_generations: int = setting(
        3, help="Generations that can be shown again, the active one included", low=1, high=1000
    )
    keep: str = setting(
        "",
        help="How long a generation is kept after another took its place, such as `90d`, also when it is not"
        " among the last `keep_generations`; empty: by their number alone",
    )
    keep_handoffs: str = setting("30d", help="How long the record of a finished handoff is kept")


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceConfig:
    host: str = setting("127.0.0.1", help="Where `rowen serve --listen` listens; elsewhere needs tokens")
    port: int = setting(8340, help="The port it listens on; 0 for any that is free", low=0, high=65_535)
    rate_limit_per_minute: int = setting(
        6000, help="Requests a caller may make in a minute; 0 for no limit", low=0, high=10_000_000
    )
    search_processes: int = setting(
        -1,
        help="Processes of `rowen serve --listen` that answer searches; -1: one a core, 8 at most; 0: none",
        low=-1,
        high=64,
    )
    max_body_bytes: int = setting(
        1_000_000, help="Larger request bodies are refused", low=1_000, high=1_000_000_000
    )
    max_connections: int = setting(
        1000, help="Connections at a time; fewer where `ulimit -n` is small", low=16, high=1_000_000
    )
    max_connections_per_address: int = setting(
        250, help="Connections of one address at a time; 0 for no limit", low=0, high=1_000_000
    )
    allowed_roots: str = setting(
        "", help="Folders whose files and repositories may be added by API, separated by commas"
    )
    allowed_variables: str = setting(
        "", help="Variables that sources added by API may refer to, separated by commas"
    )
    otel: bool = setting(
        False, help="Spans around requests and runs, for an OpenTelemetry SDK if this process has one"
    )
    trusted_proxies: str = setting(
        "", help="Addresses of proxies whose X-Forwarded-For is trusted, separated by commas"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    store: StoreConfig = field(default_factory=StoreConfig)
    fetch: FetchConfig = field(default_factory=FetchConfig)
    convert: ConvertConfig = field(default_factory=ConvertConfig)
    render: RenderConfig = field(default_factory=RenderConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    breaker: BreakerConfig = field(default_factory=BreakerConfig)
    history: HistoryConfig = field(default_factory=HistoryConfig)
    runs: RunsConfig = field(default_factory=RunsConfig)
    service: ServiceConfig = field(default_factory=ServiceConfig)
    workers: WorkersConfig = field(default_factory=WorkersConfig)


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One value, for `config show` and the reference."""

    name: str
    value: Any
    origin: str
    help: str
    variable: str


class _Value(NamedTuple):
    field: Field[Any]
    value: Any
    origin: str


SECTIONS: dict[str, type] = get_type_hints(Config)
SHORT_VARIABLES = {
    "ROWEN_DB": "store.url",
    "CB_FAILURE_THRESHOLD": "breaker.failure_threshold",
    "CB_RECOVERY_TIMEOUT_SECS": "breaker.recovery_timeout_s",
    "CB_SUCCESS_THRESHOLD": "breaker.success_threshold",
    "CB_RATE_LIMIT_BACKOFF_MULTIPLIER": "breaker.rate_limit_multiplier",
    "CB_MAX_RECOVERY_TIMEOUT_SECS": "breaker.max_recovery_timeout_s",
}


def load(
    *,
    db: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> tuple[Config, list[Setting]]:
    """The settings in force, as `in_force` has them, and where each came from."""
    values = _values(db=db, environment=environment, folder=folder)
    shown = [
        Setting(name=name, value=value, origin=origin, help=one.metadata["help"], variable=variable_of(name))
        for name, (one, value, origin) in values.items()
    ]
    return _config(values), shown


def in_force(*, db: str | None = None, folder: Path | None = None) -> Config:
    """The settings in force.

    With a `folder`, those of its `rowen.toml` count if a person trusted it; ROWEN_CONFIG names another file.
    """
    return _config(_values(db=db, environment=None, folder=folder))


def _config(values: Mapping[str, _Value]) -> Config:
    sections: dict[str, dict[str, Any]] = {}
    for name, (one, value, _) in values.items():
        sections.setdefault(name.partition(".")[0], {})[one.name] = value
    return restored(sections)


def _values(
    *, db: str | None, environment: Mapping[str, str] | None, folder: Path | None
) -> dict[str, _Value]:
    """Every setting by its name, in order."""
    env = os.environ if environment is None else environment  # noqa: TID251 - the one place that may
    given: dict[str, tuple[Any, str]] = {}
    if "ROWEN_CONFIG" in env:
        given |= project_file.settings(Path(env["ROWEN_CONFIG"]))
    elif folder is not None and (found := project_file.find(folder)) and found.trusted and found.has_settings:
        given |= project_file.settings_of_found(found.path)
    given |= _from_environment(env)
    if db is not None:
        given["store.url"] = (db, "--db")
    values: dict[str, _Value] = {}
    for section, cls in SECTIONS.items():
        for one in fields(cls):
            name = f"{section}.{one.name}"
            raw, origin = given.pop(name, (one.default, "default"))
            values[name] = _Value(one, _checked(name, raw, one.default, one.metadata), origin)
    for name, (_, origin) in given.items():
        hint = did_you_mean(name, list(values), otherwise="see `rowen config show`")
        raise ConfigError(f"setting `{name}` in {origin}: no such setting", hint=hint, name=name)
    return values


def restored(sections: Mapping[str, Mapping[str, Any]]) -> Config:
    """The settings that another process of ours has sent, as `asdict` has them."""
    return Config(**{name: SECTIONS[name](**values) for name, values in sections.items()})


def variable(name: str) -> str | None:
    """A variable of the environment that a source's setting refers to."""
    return os.environ.get(name)  # noqa: TID251 - the other place that may


def environment() -> dict[str, str]:
    """What programs that we start inherit."""
    return dict(os.environ)  # noqa: TID251 - and the last one


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    names = {
        variable_of(f"{s}.{f.name}"): f"{s}.{f.name}" for s, cls in SECTIONS.items() for f in fields(cls)
    }
    names |= SHORT_VARIABLES
    return {name: (env[variable], f"`{variable}`") for variable, name in names.items() if env.get(variable)}


def _checked(name: str, raw: Any, default: Any, limits: Mapping[str, Any]) -> Any:
    try:
        if name.endswith("_s") and isinstance(raw, str):
            return Duration(limits["low"], limits["high"], bare="s")(raw)
        value = _typed(raw, type(default))
    except (TypeError, ValueError) as exc:
        expected = str(exc) if "expected" in str(exc) else f"expected {_expected(default)}"
        raise ConfigError(f"setting `{name}`: {expected}, got `{raw}`", name=name) from exc
    low, high = limits["low"], limits["high"]
    if low is not None and not low <= value <= high:
        raise ConfigError(f"setting `{name}`: expected {low:g} to {high:g}, got `{raw}`", name=name)
    return value


def _typed(raw: Any, wanted: type) -> Any:
    if wanted is bool:
        return switch(str(raw))
    if isinstance(raw, bool):
        raise TypeError(raw)
    if wanted is str and isinstance(raw, dict):
        import json  # a table, which few settings are

        return json.dumps(raw)
    return wanted(raw)


def _expected(default: Any) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "text")
