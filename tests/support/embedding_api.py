"""Embedding providers for tests: one server in a background thread that answers as their documentation says.

    with EmbeddingApi() as api:
        embedder = embedders.make(api.spec("openai"))
        api.script(rate_limited("7"), OK, server_error())
        ...
        assert api.calls[-1].texts == ["..."]

The script is worked off call by call; after it every call succeeds, unless `always` says otherwise. Texts
that share words get vectors that are near each other. Everything may be changed from any thread meanwhile.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
import re
import struct
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from aiohttp import web

from rowen.adapters.embedders import EmbedderSpec
from rowen.core.safety.secrets import Secret

DEADLINE_S = 120.0
KEY = "test-key-4f1c9b77e0"
DIMENSIONS = 16
PATHS = {"openai": "/v1", "gemini": "/v1beta", "ollama": "", "cohere": "/v2", "voyage": "/voyage/v1"}
MODEL = "made-for-tests"


@dataclass(frozen=True, kw_only=True)
class Fault:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Instead of the provider's own words for this status."""
    until: threading.Event | None = None
    """Say nothing before this is set."""
    vectors: str = ""
    """`missing` one, one `short`, one `nan`, one `null`, one all `zero`, or in `reverse` order."""


OK = Fault()


def rate_limited(retry_after: str | None = "7", **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(status=429, headers=named | ({"Retry-After": retry_after} if retry_after else {}))


def server_error(status: int = 500) -> Fault:
    return Fault(status=status)


def silent(until: threading.Event) -> Fault:
    """Never answers, until it is let go."""
    return Fault(until=until)


def web_page(status: int = 200) -> Fault:
    return Fault(
        status=status, headers={"Content-Type": "text/html"}, body="<!DOCTYPE html><h1>Back soon</h1>"
    )


def too_long() -> Fault:
    return Fault(status=400)


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as it was answered."""

    provider: str
    path: str
    """With its query, as it came over the wire."""
    status: int
    texts: list[str]
    body: dict[str, Any]
    headers: Mapping[str, str] = field(repr=False)


class EmbeddingApi:
    def __init__(self, *, dimensions: int = DIMENSIONS, key: str = KEY) -> None:
        self.dimensions = dimensions
        """Of a vector nobody asked to be shorter."""
        self.key = key
        self.calls: list[Call] = []
        self.waiting = threading.Event()
        """Set when a call arrived that gets no answer yet."""
        self._script: deque[Fault] = deque()
        self._always: Fault | None = None
        self._port = 0
        self._started = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._fault: BaseException | None = None

    # What tests do with it

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def base_url(self, provider: str) -> str:
        return self.url + PATHS[provider]

    def spec(self, provider: str, **values: Any) -> EmbedderSpec:
        """What leads an embedder here."""
        usual: dict[str, Any] = {
            "model": MODEL,
            "base_url": self.base_url(provider),
            "dimensions": self.dimensions,
            "timeout_s": DEADLINE_S,
        }
        if provider != "ollama":
            usual |= {"api_key": Secret(self.key), "key_variable": "TEST_KEY"}
        return EmbedderSpec(provider=provider, **(usual | values))

    def script(self, *faults: Fault) -> None:
        """What the next calls get, one each."""
        self._script.extend(faults)

    def always(self, fault: Fault | None) -> None:
        """An outage, after the script: every call gets this. None ends it."""
        self._always = fault

    @property
    def texts(self) -> list[str]:
        """Every text that was embedded, in order."""
        return [text for call in list(self.calls) if call.status == 200 for text in call.texts]

    def vector(self, text: str, dimensions: int | None = None) -> list[float]:
        """Not of unit length: no adapter may count on it."""
        size = dimensions or self.dimensions
        numbers = [0.01] * size
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
            numbers[digest[0] % size] += 1.0 if digest[1] % 2 else -1.0
        return [3.0 * number for number in numbers]

    def start(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="embedding-api", daemon=True)
        self._thread.start()
        if not self._started.wait(DEADLINE_S):
            raise RuntimeError("the embedding API did not start")
        if self._fault is not None:
            raise self._fault
        return self

    def stop(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            assert self._loop is not None
            assert self._stop is not None
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(DEADLINE_S)
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # The server

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as exc:
            self._fault = exc
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=50_000_000)
        app.router.add_post("/v1/embeddings", self._handler("openai"))
        app.router.add_post("/v1beta/models/{model}:batchEmbedContents", self._handler("gemini"))
        app.router.add_post("/api/embed", self._handler("ollama"))
        app.router.add_post("/v2/embed", self._handler("cohere"))
        app.router.add_post("/voyage/v1/embeddings", self._handler("voyage"))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        listener = web.TCPSite(runner, "127.0.0.1", 0, backlog=512)
        try:
            await listener.start()
            self._port = runner.addresses[0][1]
            self._started.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    def _handler(self, provider: str) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            body = await request.json()
            texts = _texts(provider, body)
            fault = self._script.popleft() if self._script else self._always or OK
            if fault.until is not None:
                self.waiting.set()
                await self._wait_for(fault.until)
            fault = self._checked(provider, request, texts, fault)
            self.calls.append(
                Call(provider, request.raw_path, fault.status, texts, body, dict(request.headers))
            )
            return self._response(provider, body, texts, fault)

        return handle

    def _checked(self, provider: str, request: web.Request, texts: list[str], fault: Fault) -> Fault:
        most = {"gemini": 100, "cohere": 96, "openai": 2048, "voyage": 1000}.get(provider, 10_000)
        if not texts or len(texts) > most or not all(texts):
            return replace(fault, status=400, body=None)
        if provider == "gemini":
            known = request.headers.get("x-goog-api-key") == self.key and not request.query_string
            # Google's way to say that it does not know a key.
            return fault if known else replace(fault, status=400, body=_GEMINI_BAD_KEY)
        if provider == "ollama":
            return fault
        known = request.headers.get("Authorization") == f"Bearer {self.key}"
        return fault if known else replace(fault, status=401, body=None)

    def _response(
        self, provider: str, body: dict[str, Any], texts: list[str], fault: Fault
    ) -> web.StreamResponse:
        headers = {"Content-Type": "application/json"} | dict(fault.headers)
        if fault.body is not None:
            return web.Response(status=fault.status, headers=headers, body=fault.body.encode())
        if fault.status != 200:
            words = json.dumps(_error(provider, fault.status))
            return web.Response(status=fault.status, headers=headers, body=words.encode())
        asked = body.get("dimensions") or body.get("output_dimension")
        if provider == "gemini":
            asked = body["requests"][0].get("outputDimensionality")
        rows: list[Any] = [self.vector(text, asked) for text in texts]
        answer = _success(provider, body, _spoilt(rows, fault.vectors))
        if fault.vectors == "reverse":
            answer["data"].reverse()
        return web.Response(status=200, headers=headers, body=json.dumps(answer).encode())

    async def _wait_for(self, event: threading.Event) -> None:
        assert self._stop is not None
        async with asyncio.timeout(DEADLINE_S):
            # Another thread's event cannot be awaited.
            while not event.is_set() and not self._stop.is_set():  # noqa: ASYNC110
                await asyncio.sleep(0.002)


def _texts(provider: str, body: dict[str, Any]) -> list[str]:
    if provider == "gemini":
        return [one["content"]["parts"][0]["text"] for one in body["requests"]]
    return list(body["texts"] if provider == "cohere" else body["input"])


def _spoilt(rows: list[Any], how: str) -> list[Any]:
    if how == "missing":
        return rows[:-1]
    if how == "short":
        return [*rows[:-1], rows[-1][:-1]]
    if how in ("nan", "null", "zero"):
        first = {"nan": math.nan, "null": None, "zero": 0.0}[how]
        return [*rows[:-1], [first, *([0.0] * (len(rows[-1]) - 1))]]
    return rows


def _success(provider: str, body: dict[str, Any], rows: list[Any]) -> dict[str, Any]:
    if provider == "gemini":
        return {"embeddings": [{"values": row} for row in rows]}
    if provider == "ollama":
        return {
            "model": body["model"],
            "embeddings": rows,
            "total_duration": 14143917,
            "prompt_eval_count": 8,
        }
    if provider == "cohere":
        (kind,) = body["embedding_types"]
        if kind == "int8":
            rows = [[round(40 * number) for number in row] for row in rows]
        meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 4}}
        return {"id": "0", "embeddings": {kind: rows}, "texts": body["texts"], "meta": meta}
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _base64(row) if packed else row}
        for index, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _base64(row: list[Any]) -> str:
    numbers = [math.nan if number is None else number for number in row]
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


_WORDS = {
    400: "This model's maximum context length is 8192 tokens, however you requested 25701 tokens",
    401: "Incorrect API key provided",
    404: f"model '{MODEL}' not found",
    429: "Rate limit reached for requests",
}


def _error(provider: str, status: int) -> dict[str, Any]:
    words = _WORDS.get(status, "The server had an error while processing your request")
    if provider == "gemini":
        return {"error": {"code": status, "message": words, "status": "UNAVAILABLE"}}
    if provider == "ollama":
        return {"error": words}
    if provider == "cohere":
        return {"id": "0", "message": words}
    if provider == "voyage":
        return {"detail": words}
    return {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": None}}


_GEMINI_BAD_KEY = json.dumps(
    {
        "error": {
            "code": 400,
            "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com",
                }
            ],
        }
    }
)


def gemini_retry_info(delay: str = "34.074824224s") -> Fault:
    """Google says in the body how long to wait."""
    error = {
        "code": 429,
        "message": "You exceeded your current quota",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
        ],
    }
    return Fault(status=429, body=json.dumps({"error": error}))
