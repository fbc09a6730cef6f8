"""The provider `http` against a real server, alone and under Rowen."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rowen import Rowen
from rowen.plugin import ConfigError, Embedder, EmbedderSettings, EmbedderUnavailable, Secret

WORDS = ("pear", "plum", "quince")


class Server:
    """A vector counts the words of a text."""

    def __init__(self) -> None:
        self.status = 200
        self.answer: Any = None
        self.asked: list[tuple[Any, str | None]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((body, self.headers.get("X-Key")))
                rows = [[1, *(text.lower().count(word) for word in WORDS)] for text in body["q"]["texts"]]
                answer = server.answer if server.answer is not None else {"out": [{"v": row} for row in rows]}
                self.send_response(server.status)
                self.send_header("Retry-After", "7")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_: Any) -> None:
                return

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/embed"
        self._thread = threading.Thread(target=self._http.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


OPTIONS = {"request": {"q": {"texts": "$texts"}}, "vectors": "out[].v", "key_header": "X-Key: {}"}


def embedder(server: Server, **values: Any) -> Embedder:
    from rowen_http_embedder import make

    usual = {"provider": "http", "base_url": server.url, "dimensions": 4, "options": OPTIONS}
    return make(EmbedderSettings(**{**usual, **values}))


def test_texts_are_sent_and_vectors_found_as_the_options_say(server: Server) -> None:
    vectors = asyncio.run(embedder(server, api_key=Secret("hush")).embed(["pear", "a plum"]))
    assert server.asked == [({"q": {"texts": ["pear", "a plum"]}}, "hush")]
    assert vectors == [bytes([90, 90, 0, 0]), bytes([90, 0, 90, 0])]


@pytest.mark.parametrize("answer", [{"out": []}, {"out": [{"v": [1, 2]}]}, {"out": [{"v": "x"}]}, [], 3])
def test_answers_that_are_none_are_unavailable(server: Server, answer: Any) -> None:
    server.answer = answer
    with pytest.raises(EmbedderUnavailable):
        asyncio.run(embedder(server).embed_query("pear"))


def test_a_server_that_refuses_is_unavailable_for_as_long_as_it_says(server: Server) -> None:
    server.status = 429
    with pytest.raises(EmbedderUnavailable, match="429 from the server") as caught:
        asyncio.run(embedder(server).embed_query("pear"))
    assert caught.value.retry_after_s == 7


def test_the_spec_makes_the_same_embedder_again_and_holds_no_key(server: Server) -> None:
    first = embedder(server, api_key=Secret("hush"))
    assert "hush" not in json.dumps(dict(first.spec))
    again = embedder(server, **first.spec)
    assert again.model == first.model
    assert embedder(server, model="other").model.digest != first.model.digest


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"base_url": "localhost"}, "embedding.base_url"),
        ({"dimensions": 0}, "embedding.dimensions"),
        ({"options": {"vector": "x"}}, "unknown `vector`"),
        ({"options": {"vectors": "["}}, "not JMESPath"),
    ],
)
def test_wrong_settings_are_said(server: Server, values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        embedder(server, **values)
    assert server.asked == []


def test_rowen_embeds_and_searches_with_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_EMBEDDING_PROVIDER", "http")
    monkeypatch.setenv("ROWEN_EMBEDDING_BASE_URL", server.url)
    monkeypatch.setenv("ROWEN_EMBEDDING_DIMENSIONS", "4")
    monkeypatch.setenv("ROWEN_EMBEDDING_OPTIONS", json.dumps(OPTIONS))
    (tmp_path / "docs").mkdir()
    for word in WORDS:
        (tmp_path / "docs" / f"{word}.md").write_text(f"# The {word}\n\nA {word} is a fruit.\n")
    with Rowen(db=f"sqlite:///{tmp_path / 'rowen.db'}") as rowen:
        rowen.add(str(tmp_path / "docs"), name="docs")
        assert rowen.sync("docs").counters.embeddings_computed == 3
        answer = rowen.search("quinces", mode="vector")
    assert answer.hits[0].title == "The quince"
    assert not answer.degraded
