"""Private sites: the settings every kind that speaks HTTP may offer, and what they become for a run.

The settings hold `${VARIABLE}` references, which are stored and are part of the source's identity: another
account may see another site. The values are looked up when a run starts and go to the origin of the source's
location only.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rowen.core.params import what
from rowen.core.safety.secrets import Credentials, Secret, fill, header_name, reference
from rowen.core.web import urls
from rowen.errors import BadLocation, ConfigError

_secret = partial(what, parse=reference, secret=True)
_KEY = "A header for the source's own host, its value by reference: header.X-Api-Key='${DOCS_KEY}'"
PARAMS = (
    _secret("header", {}, _KEY, key=header_name),
    _secret("cookie", "", "Cookies for the source's own host, by reference: '${DOCS_COOKIE}'"),
    _secret(
        "basic", "", "User name and password for the source's own host, by reference: '${USER}:${PASSWORD}'"
    ),
    _secret("bearer", "", "A token for the source's own host, by reference: '${TOKEN}'"),
)


def hint(params: Mapping[str, Any]) -> str:
    """What to do about a server that answers 401 or 403."""
    given = [spec.name for spec in PARAMS if params.get(spec.name)]
    if given:
        names = " and ".join(f"`{name}`" for name in given)
        return f"the server does not take what {names} refers to: look at those variables"
    return (
        "if it wants credentials, give them by reference: set `bearer` to `${TOKEN}`, `basic` to"
        " `${USER}:${PASSWORD}`, `cookie` to `${COOKIE}` or `header.NAME` to `${VALUE}`"
    )


def resolve(
    secrets: Callable[[str], str | None], params: Mapping[str, Any], location: str
) -> Credentials | None:
    """What the settings stand for now; None when there are none. Raises `ConfigError`.

    `secrets` has the value of a variable.
    """
    found: list[tuple[str, str, str]] = []
    for name, text in (params.get("header") or {}).items():
        setting = f"header.{name}"
        found.append((setting, name, fill(setting, text, secrets)))
    if params.get("cookie"):
        found.append(("cookie", "Cookie", fill("cookie", params["cookie"], secrets)))
    if params.get("basic"):
        found.append(("basic", "Authorization", _basic(fill("basic", params["basic"], secrets))))
    if params.get("bearer"):
        token = fill("bearer", params["bearer"], secrets)
        found.append(("bearer", "Authorization", f"Bearer {token}"))
    headers: dict[str, Secret] = {}
    given_by: dict[str, str] = {}
    for setting, name, value in found:
        other = given_by.setdefault(name.lower(), setting)
        if other != setting:
            raise ConfigError(f"settings `{other}` and `{setting}`: both make the header `{name}`")
        headers[name] = Secret(value)
    return Credentials(urls.origin_of(location), headers) if headers else None


def _basic(pair: str) -> str:
    if ":" not in pair:
        raise ConfigError("setting `basic`: expected a user name and a password with a colon between them")
    return "Basic " + b64encode(pair.encode()).decode("ascii")


def refuse_in_address(location: str) -> None:
    """A location is stored and shown: no password in it, no key in its query. Raises `BadLocation`."""
    shown = urls.without_credentials(location)
    if shown != location:
        raise BadLocation(
            f"location `{shown}`: holds a user name or password, which would be stored in clear",
            hint="leave it out, and give it by reference: set `basic` to `${USER}:${PASSWORD}`",
            location=shown,
        )
    name = urls.secret_parameter(location)
    if name is not None:
        bare = location.partition("?")[0]
        raise BadLocation(
            f"location `{bare}?...`: `{name}` looks like a key, which would be stored in clear",
            hint=f"leave it out, and give it by reference: set `header.X-Api-Key` to `${{{name.upper()}}}`",
            location=bare,
        )
