"""A Google service account: its key, and the tokens it gets for it.

The key signs a short statement (a JWT, RS256) which the account's own token address changes into a token for
an hour. The key itself is never sent anywhere, and appears in no message.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from rowen.adapters.sheets.failures import json_of, token_failure
from rowen.core.safety.secrets import Secret
from rowen.errors import ConfigError
from rowen.ports.clock import Clock
from rowen.ports.fetcher import FetcherOptions, OpenFetcher, Request
from rowen.ports.sheets import SpreadsheetOptions
from rowen.records import dataclass

SCOPE = "https://www.googleapis.com/auth/spreadsheets"
LIFETIME_S = 3600
EARLY_S = 60.0
"""A token is replaced this long before it ends: the call it goes with takes time too."""
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    email: str
    token_uri: str
    key: RSAPrivateKey
    key_id: str = ""

    def assertion(self, now: datetime) -> str:
        """The signed statement of who asks for what."""
        issued = int(now.timestamp())
        header = {"alg": "RS256", "typ": "JWT"} | ({"kid": self.key_id} if self.key_id else {})
        claims = {
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_uri,
            "iat": issued,
            "exp": issued + LIFETIME_S,
        }
        statement = b".".join(_packed(orjson.dumps(part)) for part in (header, claims))
        signature = self.key.sign(statement, padding.PKCS1v15(), hashes.SHA256())
        return (statement + b"." + _packed(signature)).decode("ascii")


def read_account(options: SpreadsheetOptions) -> Account:
    """The account behind the settings. Raises `ConfigError`, which never repeats what it read."""
    if options.credentials is not None:
        where, content = "setting `credentials`", options.credentials.reveal()
    else:
        where, content = _file(options.credentials_file or "")
    values: Any = json_of(content.encode("utf-8", "replace"))
    hint = "it should be the JSON key of a service account, as Google's console gives it"
    if not isinstance(values, dict) or values.get("type") != "service_account":
        raise ConfigError(f"{where}: not the key of a service account", hint=hint)
    for name in ("client_email", "private_key", "token_uri"):
        if not isinstance(values.get(name), str) or not values[name]:
            raise ConfigError(f"{where}: the key of a service account without `{name}`", hint=hint)
    try:
        key = serialization.load_pem_private_key(values["private_key"].encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise ConfigError(f"{where}: its `private_key` cannot be read", hint=hint)
    return Account(
        email=values["client_email"],
        token_uri=values["token_uri"],
        key=key,
        key_id=str(values.get("private_key_id", "")),
    )


class Tokens:
    """One account's token, renewed when it is about to end."""

    def __init__(self, account: Account, open_fetcher: OpenFetcher, clock: Clock, *, user_agent: str) -> None:
        self._account = account
        self._open_fetcher = open_fetcher
        self._clock = clock
        self._user_agent = user_agent
        self._token: Secret | None = None
        self._until: datetime | None = None

    async def token(self) -> Secret:
        """The same object as long as it is the same token."""
        if self._token is None or self._until is None or self._clock.now() >= self._until:
            self._token, lifetime_s = await self._exchange()
            self._until = self._clock.now() + timedelta(seconds=max(0.0, lifetime_s - EARLY_S))
        return self._token

    def forget(self) -> None:
        self._token = None

    async def _exchange(self) -> tuple[Secret, float]:
        account = self._account
        now = self._clock.now()
        body = urlencode({"grant_type": _GRANT, "assertion": account.assertion(now)}).encode("ascii")
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        # Its own fetcher: the address comes from the key, and it alone may be private because of it.
        options = FetcherOptions(
            typed_location=account.token_uri, user_agent=self._user_agent, max_body_bytes=1_000_000
        )
        async with self._open_fetcher(options) as fetcher:
            response = await fetcher.fetch(
                Request(account.token_uri, headers=headers, method="POST", body=body)
            )
        answer = json_of(response.body)
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if response.status != 200 or not isinstance(token, str) or not token:
            raise token_failure(response, account.email, now)
        lifetime_s = answer.get("expires_in")
        return Secret(token), float(lifetime_s) if isinstance(lifetime_s, int | float) else LIFETIME_S


def _file(path: str) -> tuple[str, str]:
    where = f"credentials file `{path}`"
    try:
        return where, Path(path).expanduser().read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{where}: not text") from None
    except (OSError, ValueError) as exc:
        cause = getattr(exc, "strerror", None) or "not a path"
        raise ConfigError(f"{where}: cannot be read: {cause}") from exc


def _packed(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")
