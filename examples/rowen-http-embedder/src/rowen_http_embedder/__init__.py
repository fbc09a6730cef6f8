"""The embedding provider `http`: one POST of texts, vectors in the answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import jmespath

from rowen.plugin import ConfigError, EmbedderSettings, EmbedderUnavailable, Model, pack_vectors

USUAL: Mapping[str, Any] = {
    "request": {"input": "$texts", "model": "$model"},
    "vectors": "data[].embedding",
    "key_header": "Authorization: Bearer {}",
    "batch_size": 32,
}
MAX_ANSWER_BYTES = 64_000_000
TOO_OFTEN = 429


class HttpEmbedder:
    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._options = {**USUAL, **settings.options}
        self._address = urlsplit(settings.base_url)
        self._vectors = jmespath.compile(self._options["vectors"])

    @property
    def model(self) -> Model:
        # Everything that makes other vectors: vectors of two models never meet in a search.
        facts = [self._settings.base_url, self._settings.model, self._options["request"]]
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
        name = f"http:{self._settings.model or self._address.netloc}"
        return Model(name=name, digest=digest, dimensions=self._settings.dimensions, alpha=0.5)

    @property
    def batch_size(self) -> int:
        return int(self._options["batch_size"])

    @property
    def spec(self) -> Mapping[str, Any]:
        return self._settings.as_spec()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return await asyncio.to_thread(self._embed, list(texts))

    async def embed_query(self, text: str) -> bytes:
        return (await self.embed([text]))[0]

    async def close(self) -> None:
        return None

    def _embed(self, texts: list[str]) -> list[bytes]:
        answer = self._post(_filled(self._options["request"], texts, self._settings.model))
        rows = self._vectors.search(answer)
        if not isinstance(rows, list) or len(rows) != len(texts):
            found = len(rows) if isinstance(rows, list) else "no"
            raise self._failed(f"{found} vectors at `{self._options['vectors']}` for {len(texts)} texts")
        try:
            return pack_vectors(rows, self._settings.dimensions)
        except ValueError as exc:
            raise self._failed(str(exc)) from exc

    def _post(self, body: Any) -> Any:
        opener = HTTPSConnection if self._address.scheme == "https" else HTTPConnection
        connection = opener(self._address.netloc, timeout=self._settings.timeout_s)
        path = self._address.path or "/"
        try:
            connection.request("POST", path, json.dumps(body).encode(), self._headers())
            with connection.getresponse() as response:
                content = response.read(MAX_ANSWER_BYTES)
        except (OSError, HTTPException) as exc:
            raise self._failed(f"{type(exc).__name__}: {exc}") from exc
        finally:
            connection.close()
        if response.status != 200:
            raise self._failed(f"{response.status} from the server", response)
        try:
            return json.loads(content)
        except ValueError as exc:
            raise self._failed("an answer that is not JSON") from exc

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._settings.api_key is not None:
            name, _, value = self._options["key_header"].partition(":")
            headers[name.strip()] = value.strip().format(self._settings.api_key.reveal())
        return headers

    def _failed(self, what: str, response: HTTPResponse | None = None) -> EmbedderUnavailable:
        """Never with the answer itself: some servers repeat the key in it."""
        wait = response.getheader("Retry-After", "") if response is not None else ""
        return EmbedderUnavailable(
            f"model `{self.model.name}`: {what}",
            retry_after_s=float(wait) if wait.isdecimal() else None,
            reason="rate_limit" if response is not None and response.status == TOO_OFTEN else "server",
        )


def make(settings: EmbedderSettings) -> HttpEmbedder:
    """Raises `ConfigError`; nothing is sent before the first text."""
    address = urlsplit(settings.base_url)
    if address.scheme not in ("http", "https") or not address.netloc or "@" in address.netloc:
        raise ConfigError(
            "setting `embedding.base_url`: expected the http address that takes the texts",
            hint="for example `http://localhost:8080/embed`; keys go into a variable",
        )
    if settings.dimensions <= 0:
        raise ConfigError("setting `embedding.dimensions`: missing", hint="the length of the model's vectors")
    for name in settings.options:
        if name not in USUAL:
            raise ConfigError(
                f"setting `embedding.options`: unknown `{name}`", hint=f"known: {', '.join(USUAL)}"
            )
    try:
        return HttpEmbedder(settings)
    except jmespath.exceptions.JMESPathError as exc:
        raise ConfigError(f"setting `embedding.options`: `vectors` is not JMESPath: {exc}") from exc


def _filled(template: Any, texts: list[str], model: str) -> Any:
    """The template with the texts and the model in their places."""
    match template:
        case "$texts":
            return texts
        case "$model":
            return model
        case dict():
            return {key: _filled(value, texts, model) for key, value in template.items()}
        case list():
            return [_filled(value, texts, model) for value in template]
    return template
