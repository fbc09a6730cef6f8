"""An embedder that lives behind an address.

`embed` is exactly one call of the provider. It does not batch, retry, wait or remember failures:
`engine/embedding.py` does, and its circuit breaker counts every call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from rowen.adapters.embedders.apis import APIS
from rowen.adapters.embedders.client import Answer, Client
from rowen.adapters.embedders.failures import failure, from_status, redacted
from rowen.adapters.embedders.spec import Resolved
from rowen.adapters.embedders.vectors import BadVectors, WrongLength, pack
from rowen.errors import EmbedderUnavailable

_GENEROUS_CHARACTERS = 8


class RemoteEmbedder:
    """May be called from several tasks at once."""

    def __init__(self, resolved: Resolved) -> None:
        self._resolved = resolved
        self._api = APIS[resolved.provider]
        headers = self._api.headers(resolved.api_key) if resolved.api_key is not None else {}
        self._client = Client(resolved, self._api.url(resolved), headers)
        self.model = resolved.as_model()
        self.batch_size = resolved.batch_size
        self.spec: Mapping[str, Any] = resolved.as_spec()

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self._resolved.name!r} at {self._resolved.origin!r})"

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return await self._embed(texts, query=False)

    async def embed_query(self, text: str) -> bytes:
        return (await self._embed([text], query=True))[0]

    async def close(self) -> None:
        await self._client.close()

    async def _embed(self, texts: Sequence[str], *, query: bool) -> list[bytes]:
        if len(texts) > self.batch_size:
            raise ValueError(f"{len(texts)} texts in one call, at most {self.batch_size} are allowed")
        # Providers refuse an empty text; like the local model, it is near to nothing.
        places = [place for place, text in enumerate(texts) if text.strip()]
        vectors = [bytes(self.model.dimensions)] * len(texts)
        if places:
            prefix = self._resolved.query_prefix if query else self._resolved.document_prefix
            sent = [prefix + fit(texts[place], self._resolved) for place in places]
            answer = await self._client.post(orjson.dumps(self._api.body(self._resolved, sent, query=query)))
            # Millions of numbers: not between the other tasks of the loop.
            packed = await asyncio.to_thread(self._read, answer, len(sent))
            for place, vector in zip(places, packed, strict=True):
                vectors[place] = vector
        return vectors

    def _read(self, answer: Answer, count: int) -> list[bytes]:
        resolved, status = self._resolved, answer.status
        if not 200 <= status < 300:
            raise from_status(resolved, status, answer.headers, answer.body)
        try:
            value = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            kind = redacted(answer.headers.get("content-type", "no type"), resolved)
            raise self._bad(f"a body that is not JSON (`{kind}`)", status) from None
        try:
            rows = self._api.rows(value)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise self._bad("a body without vectors where they belong", status) from None
        if len(rows) != count:
            raise self._bad(f"{len(rows)} vectors for {count} texts", status)
        try:
            packed = pack(rows, self.model.dimensions)
        except WrongLength as exc:
            hint = f"set `embedding.dimensions` to {exc.found}, or name another model"
            raise self._bad(str(exc), status, kind="settings", hint=hint) from None
        except BadVectors as exc:
            raise self._bad(str(exc), status) from None
        return packed

    def _bad(
        self, fact: str, status: int, *, kind: str = "server", hint: str | None = None
    ) -> EmbedderUnavailable:
        where = self._resolved.origin
        return failure(self._resolved, kind, f"`{where}` answered with {fact}", status=status, hint=hint)


def fit(text: str, resolved: Resolved) -> str:
    """The beginning of a text that the model can take, by a bound on its characters.

    Where the provider cuts by itself, 8 characters a token: only what no model could read is left out. Where
    it would refuse the text, an ASCII character counts as a third of a token and any other as a whole one.
    """
    limit = resolved.max_tokens
    if resolved.cuts_itself:
        text = text[: limit * _GENEROUS_CHARACTERS]
    elif len(text) > limit:
        text = text[: _characters(text, limit)]
    # A lone surrogate cannot be sent.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _characters(text: str, limit: int) -> int:
    thirds = 3 * limit
    for place, character in enumerate(text[:thirds]):
        thirds -= 1 if character < "\x80" else 3
        if thirds < 0:
            return place
    return 3 * limit
