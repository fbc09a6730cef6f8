"""A project's `rowen.toml`: finding it, trusting it, and reading the settings in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowen.errors import ConfigError
from rowen.places import state_folder
from rowen.records import dataclass

SQLITE = "sqlite:///"
FILE = "rowen.toml"
"""A project's file: settings, and the sources, sinks and alarms that `rowen apply` reads."""
LISTS = frozenset(("defaults", "sources", "sinks", "alarms"))
"""Tables of that file that are no settings."""
# fmt: off
NOT_FOR_FOUND = frozenset((
    "embedding.api_key_env", "embedding.base_url", "embedding.options", "fetch.allow_private",
    "render.browser", "render.sandbox", "service.allowed_roots", "service.allowed_variables",
    "service.host", "service.trusted_proxies",
))
# fmt: on
"""Settings that start programs, send keys somewhere or open doors: a file that was found may not say them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The `rowen.toml` of the current folder."""

    path: Path
    trusted: bool
    """A person of this machine said that its settings may be used."""
    has_settings: bool
    sources: int


def find(folder: Path) -> Found | None:
    """The file of a folder, without using anything of it."""
    path = folder.absolute() / FILE
    if not path.is_file():
        return None
    import tomllib

    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The person who trusted it is told what is wrong with it when it is read.
        content = {"store": {}} if is_trusted(path) else {}
    sources = content.get("sources", [])
    return Found(
        path=path,
        trusted=is_trusted(path),
        has_settings=bool(content.keys() - LISTS),
        sources=len(sources) if isinstance(sources, list) else 0,
    )


def is_trusted(path: Path) -> bool:
    return str(path.resolve()) in _trusted()


def trust(path: Path, *, trusted: bool = True) -> None:
    """Remember, for this user, whether the settings of a file may be used."""
    others = {one for one in _trusted() if one != str(path.resolve())}
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    said = sorted(others | ({str(path.resolve())} if trusted else set()))
    (folder / _TRUSTED).write_text("".join(f"{one}\n" for one in said), "utf-8")


_TRUSTED = "trusted_files"


def _trusted() -> set[str]:
    try:
        return set((state_folder() / _TRUSTED).read_text("utf-8").splitlines())
    except OSError:
        return set()


def settings_of_found(path: Path) -> dict[str, tuple[Any, str]]:
    """The settings of a file that was found and not named, unless one is not for such a file to say."""
    given = settings(path)
    for name in sorted(NOT_FOR_FOUND & given.keys()):
        raise ConfigError(
            f"setting `{name}` in `{path}`: not for a file that was found",
            hint=f"set {variable_of(name)}, or name the file: ROWEN_CONFIG={path}",
            name=name,
        )
    url, _ = given.get("store.url", ("", ""))
    inside = isinstance(url, str) and url.startswith(SQLITE)
    if url and not (
        inside and Path(url.removeprefix(SQLITE)).resolve().is_relative_to(path.parent.resolve())
    ):
        raise ConfigError(
            f"setting `store.url` in `{path}`: a file that was found names a SQLite file of its own folder",
            hint=f"set ROWEN_DB, or name the file: ROWEN_CONFIG={path}",
            name="store.url",
        )
    return given


def settings(path: Path) -> dict[str, tuple[Any, str]]:
    """The settings of a file, each with where it stands."""
    import tomllib

    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as exc:
        raise ConfigError(f"settings file `{path}`: cannot be read: {exc.strerror}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ConfigError(f"settings file `{path}`: not TOML: {exc}") from exc
    given: dict[str, tuple[Any, str]] = {}
    for section, values in content.items():
        if section in LISTS:
            continue
        if not isinstance(values, dict):
            raise ConfigError(
                f"settings file `{path}`: `{section}` is not a section",
                hint="write `[fetch]` and below it `timeout_s = 10`",
            )
        given |= {f"{section}.{key}": (value, f"`{path}`") for key, value in values.items()}
    url, origin = given.get("store.url", ("", ""))
    if isinstance(url, str) and url.startswith(SQLITE):
        # Beside the file that names it, whichever folder the command is called in.
        given["store.url"] = f"{SQLITE}{path.absolute().parent / url.removeprefix(SQLITE)}", origin
    return given


def variable_of(name: str) -> str:
    """The variable of the environment that says a setting."""
    return "ROWEN_DB" if name == "store.url" else "ROWEN_" + name.replace(".", "_").upper()
