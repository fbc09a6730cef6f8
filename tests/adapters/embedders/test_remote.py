"""Every provider against a server that answers as its documentation says, and fails in every way."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

from rowen.adapters import embedders
from rowen.core.safety.secrets import Secret
from rowen.errors import EmbedderUnavailable
from rowen.ports.embedder import Embedder
from tests.support.embedding_api import (
    DIMENSIONS,
    KEY,
    MODEL,
    OK,
    EmbeddingApi,
    Fault,
    gemini_retry_info,
    rate_limited,
    server_error,
    silent,
    too_long,
    web_page,
)

pytestmark = pytest.mark.anyio

PROVIDERS = ("openai", "gemini", "ollama", "cohere", "voyage")
KEYED = ("openai", "gemini", "cohere", "voyage")
each_provider = pytest.mark.parametrize("provider", PROVIDERS)
each_keyed = pytest.mark.parametrize("provider", KEYED)

Make = Callable[..., Embedder]


@pytest.fixture
def api() -> Iterator[EmbeddingApi]:
    with EmbeddingApi() as server:
        yield server


@pytest.fixture
async def make(api: EmbeddingApi) -> AsyncIterator[Make]:
    """Embedders of the server; closed at the end, so that nothing warns."""
    made: list[Embedder] = []

    def one(provider: str, **values: Any) -> Embedder:
        made.append(embedders.make(api.spec(provider, **values)))
        return made[-1]

    yield one
    for embedder in made:
        await embedder.close()


def unit(vector: bytes) -> np.ndarray[Any, Any]:
    return np.frombuffer(vector, np.int8).astype(float) / 127


async def failing(embedder: Embedder, texts: list[str] | None = None) -> EmbedderUnavailable:
    with pytest.raises(EmbedderUnavailable) as caught:
        await embedder.embed(texts or ["one", "two"])
    return caught.value


# What a call is


@each_provider
async def test_texts_become_the_signed_bytes_of_unit_vectors(
    api: EmbeddingApi, make: Make, provider: str
) -> None:
    texts = ["plums and pears", "a queue of jobs", "été à Zürich – 東京"]
    vectors = await make(provider).embed(texts)
    assert [len(vector) for vector in vectors] == [DIMENSIONS] * 3
    for text, vector in zip(texts, vectors, strict=True):
        expected = np.array(api.vector(text))
        assert unit(vector) == pytest.approx(expected / np.linalg.norm(expected), abs=0.01)
        assert np.linalg.norm(unit(vector)) == pytest.approx(1, abs=0.02)


@each_provider
async def test_one_embed_is_one_call_with_the_texts_in_order(
    api: EmbeddingApi, make: Make, provider: str
) -> None:
    embedder = make(provider)
    texts = [f"text number {n}" for n in range(embedder.batch_size)]
    vectors = await embedder.embed(texts)
    assert [call.texts for call in api.calls] == [texts]
    assert len(vectors) == embedder.batch_size == len(api.texts)
    assert vectors[7] == (await embedder.embed([texts[7]]))[0]


@each_provider
async def test_more_texts_than_one_call_takes_are_a_mistake_of_the_caller(
    api: EmbeddingApi, make: Make, provider: str
) -> None:
    embedder = make(provider, batch_size=2)
    with pytest.raises(ValueError, match="at most 2"):
        await embedder.embed(["a", "b", "c"])
    assert api.calls == []


@each_provider
async def test_nothing_is_sent_for_texts_that_are_empty(api: EmbeddingApi, make: Make, provider: str) -> None:
    embedder = make(provider)
    assert await embedder.embed([]) == []
    assert await embedder.embed(["", " \n"]) == [bytes(DIMENSIONS)] * 2
    assert api.calls == []
    first, empty, last = await embedder.embed(["plum", "", "pear"])
    assert empty == bytes(DIMENSIONS)
    assert [first, last] == await embedder.embed(["plum", "pear"])
    assert api.calls[0].texts == ["plum", "pear"]


@each_provider
async def test_a_lone_surrogate_does_not_stop_a_batch(api: EmbeddingApi, make: Make, provider: str) -> None:
    await make(provider).embed(["broken \ud800 text"])
    assert api.calls[0].texts == ["broken ? text"]


@each_provider
async def test_several_tasks_may_ask_at_once(api: EmbeddingApi, make: Make, provider: str) -> None:
    embedder = make(provider)
    answers = await asyncio.gather(*(embedder.embed([f"text {n}", "same"]) for n in range(8)))
    assert len({same for _, same in answers}) == 1
    assert len(api.calls) == 8


async def test_an_embedder_that_was_closed_may_be_used_again(make: Make) -> None:
    embedder = make("openai")
    first = await embedder.embed_query("plum")
    await embedder.close()
    await embedder.close()
    assert await embedder.embed_query("plum") == first


# How each provider is asked


async def test_openai_is_asked_for_base64_when_told_to_and_both_forms_are_the_same(
    api: EmbeddingApi, make: Make
) -> None:
    texts = ["plum", "pear and quince"]
    plain = await make("openai", encoding="float").embed(texts)
    packed = await make("openai", encoding="base64").embed(texts)
    assert plain == packed
    assert api.calls[0].body == {"model": MODEL, "input": texts, "encoding_format": "float"}
    assert api.calls[1].body["encoding_format"] == "base64"
    assert api.calls[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("encoding", ["float", "base64"])
async def test_openai_vectors_are_put_in_order_by_their_index(
    api: EmbeddingApi, make: Make, encoding: str
) -> None:
    embedder = make("openai", encoding=encoding)
    api.script(OK, Fault(vectors="reverse"))
    texts = ["one", "two", "three"]
    assert await embedder.embed(texts) == await embedder.embed(texts)


async def test_a_server_of_ones_own_needs_no_key(api: EmbeddingApi, make: Make) -> None:
    await failing(make("openai", api_key=None, key_variable=""))
    assert "Authorization" not in api.calls[0].headers


async def test_gemini_gets_its_task_types_and_its_key_in_a_header(api: EmbeddingApi, make: Make) -> None:
    embedder = make("gemini", dimensions=8, send_dimensions=True)
    (document,) = await embedder.embed(["plum"])
    query = await embedder.embed_query("plum")
    first, second = api.calls
    assert first.path == f"/v1beta/models/{MODEL}:batchEmbedContents"
    assert first.headers["x-goog-api-key"] == KEY
    assert first.body["requests"] == [
        {
            "model": f"models/{MODEL}",
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 8,
            "content": {"parts": [{"text": "plum"}]},
        }
    ]
    assert second.body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"
    # Shorter vectors come as they are cut: the length is made here.
    assert np.linalg.norm(unit(document)) == pytest.approx(1, abs=0.02)
    assert len(document) == len(query) == 8


async def test_the_second_gemini_model_gets_its_task_in_the_text(api: EmbeddingApi, make: Make) -> None:
    embedder = make("gemini", model="models/gemini-embedding-2")
    await embedder.embed(["plum"])
    await embedder.embed_query("plum")
    assert [call.texts for call in api.calls] == [
        ["title: none | text: plum"],
        ["task: search result | query: plum"],
    ]
    assert "taskType" not in api.calls[0].body["requests"][0]


async def test_ollama_cuts_by_itself_and_gets_the_words_its_model_wants(
    api: EmbeddingApi, make: Make
) -> None:
    embedder = make("ollama", model="nomic-embed-text:latest")
    await embedder.embed(["plum"])
    await embedder.embed_query("plum")
    assert api.calls[0].path == "/api/embed"
    assert api.calls[0].body == {
        "model": "nomic-embed-text:latest",
        "input": ["search_document: plum"],
        "truncate": True,
        "dimensions": DIMENSIONS,
    }
    assert api.calls[1].texts == ["search_query: plum"]


async def test_cohere_is_told_what_a_text_is_for_and_may_answer_in_bytes(
    api: EmbeddingApi, make: Make
) -> None:
    plain, rounded = make("cohere"), make("cohere", encoding="int8")
    (a,), (b,) = await plain.embed(["plum pear"]), await rounded.embed(["plum pear"])
    assert unit(a) @ unit(b) > 0.99
    await plain.embed_query("plum")
    assert api.calls[0].path == "/v2/embed"
    kinds = [(call.body["input_type"], call.body["embedding_types"]) for call in api.calls]
    assert kinds == [
        ("search_document", ["float"]),
        ("search_document", ["int8"]),
        ("search_query", ["float"]),
    ]
    # What the provider rounded is not the same model.
    assert plain.model.digest != rounded.model.digest


async def test_voyage_is_told_what_a_text_is_for(api: EmbeddingApi, make: Make) -> None:
    embedder = make("voyage", dimensions=8, send_dimensions=True, encoding="base64")
    await embedder.embed(["plum"])
    await embedder.embed_query("plum")
    assert [call.body["input_type"] for call in api.calls] == ["document", "query"]
    assert api.calls[0].body["output_dimension"] == 8
    assert api.calls[0].body["encoding_format"] == "base64"


@pytest.mark.parametrize(
    ("provider", "model"), [("gemini", MODEL), ("ollama", "nomic-embed-text"), ("voyage", MODEL)]
)
async def test_task_types_can_be_switched_off(
    api: EmbeddingApi, make: Make, provider: str, model: str
) -> None:
    embedder = make(provider, model=model, task_types=False)
    assert await embedder.embed(["plum"]) == [await embedder.embed_query("plum")]
    assert api.calls[0].texts == ["plum"]
    assert "input_type" not in api.calls[0].body
    assert "taskType" not in str(api.calls[0].body)
    assert embedder.model.digest != make(provider, model=model).model.digest


# Every way to fail

MANY_WAYS = [
    (rate_limited("7"), "rate_limited", 429, 7.0),
    (server_error(500), "server", 500, None),
    (server_error(503), "server", 503, None),
    (web_page(), "server", 200, None),
    (web_page(502), "server", 502, None),
    (Fault(body=""), "server", 200, None),
    (Fault(body="null"), "server", 200, None),
    (Fault(body="[]"), "server", 200, None),
    (Fault(body='{"data": 3, "embeddings": "x"}'), "server", 200, None),
    (Fault(body='{"data": [3], "embeddings": [3]}'), "server", 200, None),
    (Fault(body='{"error": {"message": "upstream is away"}}'), "server", 200, None),
    (
        Fault(body='{"data": [{"index": 0, "embedding": []}, {"index": 0, "embedding": []}]}'),
        "server",
        200,
        None,
    ),
    (Fault(vectors="missing"), "server", 200, None),
    (Fault(vectors="short"), "settings", 200, None),
    (Fault(vectors="nan"), "server", 200, None),
    (Fault(vectors="null"), "server", 200, None),
    (Fault(vectors="zero"), "server", 200, None),
    (too_long(), "rejected", 400, None),
    (Fault(status=413), "rejected", 413, None),
    (Fault(status=401), "auth", 401, None),
    (Fault(status=403), "auth", 403, None),
    (Fault(status=404), "settings", 404, None),
    (Fault(status=307, headers={"Location": "/elsewhere"}), "settings", 307, None),
]


@each_provider
async def test_each_failure_has_its_kind_and_costs_one_call(
    api: EmbeddingApi, make: Make, provider: str
) -> None:
    embedder = make(provider)
    for calls, (fault, kind, status, retry_after_s) in enumerate(MANY_WAYS, 1):
        api.script(fault)
        failure = await failing(embedder)
        assert (failure.facts["kind"], failure.facts["status"]) == (kind, status), fault
        assert failure.retry_after_s == retry_after_s
        assert failure.message.startswith(f"model `{provider}:{MODEL}`: ")
        assert len(api.calls) == calls
        assert failure.__cause__ is None
        assert failure.__context__ is None or failure.__suppress_context__
    # And it is none the worse for it.
    assert len(await embedder.embed(["one", "two"])) == 2


@each_provider
async def test_a_provider_that_never_answers_is_given_up_in_time(
    api: EmbeddingApi, make: Make, provider: str
) -> None:
    let_go = threading.Event()
    api.script(silent(let_go))
    failure = await failing(make(provider, timeout_s=0.1))
    let_go.set()
    assert (failure.facts["kind"], failure.facts["status"]) == ("timeout", None)
    assert "within 0.1 s" in failure.message


@each_provider
async def test_a_provider_that_is_not_there_is_said_so(api: EmbeddingApi, make: Make, provider: str) -> None:
    embedder = make(provider)
    api.stop()
    failure = await failing(embedder)
    assert (failure.facts["kind"], failure.facts["status"]) == ("connection", None)
    assert f"`{api.url}`" in failure.message


async def test_a_call_that_is_cancelled_ends_at_once(api: EmbeddingApi, make: Make) -> None:
    let_go = threading.Event()
    api.script(silent(let_go))
    task = asyncio.create_task(make("openai").embed(["plum"]))
    assert await asyncio.to_thread(api.waiting.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    let_go.set()


async def test_an_answer_without_end_is_cut_off(
    api: EmbeddingApi, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rowen.adapters.embedders import client

    monkeypatch.setattr(client, "MAX_BODY_BYTES", 100)
    failure = await failing(make("openai"))
    assert failure.facts["kind"] == "server"
    assert "larger than 100 bytes" in failure.message


async def test_a_vector_of_another_length_is_answered_with_the_length_to_set(
    api: EmbeddingApi, make: Make
) -> None:
    failure = await failing(make("openai", dimensions=DIMENSIONS + 1))
    assert f"vectors of {DIMENSIONS} numbers, expected {DIMENSIONS + 1}" in failure.message
    assert failure.hint is not None
    assert f"set `embedding.dimensions` to {DIMENSIONS}" in failure.hint


async def test_gemini_says_in_the_body_how_long_to_wait(api: EmbeddingApi, make: Make) -> None:
    api.script(gemini_retry_info("34.5s"))
    failure = await failing(make("gemini"))
    assert (failure.facts["kind"], failure.retry_after_s) == ("rate_limited", 34.5)


async def test_the_date_of_a_retry_after_counts_from_the_servers_clock(api: EmbeddingApi, make: Make) -> None:
    api.script(
        rate_limited("Wed, 21 Oct 2015 07:28:30 GMT", Date="Wed, 21 Oct 2015 07:28:00 GMT"),
        Fault(status=503, headers={"Retry-After": "12"}),
    )
    embedder = make("openai")
    assert (await failing(embedder)).retry_after_s == 30.0
    assert (await failing(embedder)).retry_after_s == 12.0


async def test_a_request_that_is_wrong_for_all_texts_is_no_texts_fault(api: EmbeddingApi, make: Make) -> None:
    """Callers give up texts that are rejected: with a wrong setting, they would give up every text."""
    embedder = make("openai", send_dimensions=True)
    for words in (
        'Model "bge" does not support matryoshka representation, changing output dimensions is bad',
        "base64 encoding is not currently supported",
        f"The model `{MODEL}` does not exist",
    ):
        api.script(Fault(status=400, body=json.dumps({"message": words})))
        assert (await failing(embedder)).facts["kind"] == "settings", words
    # It does not say what is wrong: a caller finds out with a harmless text.
    api.script(Fault(status=400, body='{"message": "Bad Request"}'))
    assert (await failing(embedder)).facts["kind"] == "rejected"


# Secrets


@each_keyed
async def test_a_wrong_key_is_answered_with_the_variable_to_set(
    api: EmbeddingApi, make: Make, provider: str
) -> None:
    failure = await failing(make(provider, api_key=Secret("another-key")))
    assert failure.facts["kind"] == "auth"
    assert failure.hint == "check the key in `TEST_KEY`, in the environment of this command"


@each_keyed
async def test_the_key_is_seen_nowhere_but_in_its_header(
    api: EmbeddingApi, make: Make, provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = make(provider, timeout_s=0.2)
    let_go = threading.Event()
    shown = [repr(embedder), str(embedder.spec), str(embedder.model), str(api.spec(provider))]
    # The key comes back in all the places where a provider could put it.
    leaky = f'{{"error": {{"message": "wrong: {KEY}"}}, "message": "{KEY}", "detail": "{KEY}"}}'
    faults = [Fault(status=status, body=leaky) for status in (400, 401, 403, 413, 429, 500)]
    faults += [
        Fault(body=leaky),
        Fault(body="x", headers={"Content-Type": KEY}),
        Fault(status=302, headers={"Location": f"http://127.0.0.1:1/?key={KEY}"}),
        silent(let_go),
    ]
    for fault in faults:
        api.script(fault)
        failure = await failing(embedder)
        shown += [
            failure.message,
            str(failure.hint),
            str(failure.facts),
            "".join(traceback.format_exception(failure)),
        ]
    let_go.set()
    api.stop()
    failure = await failing(embedder)
    shown += ["".join(traceback.format_exception(failure)), caplog.text]
    assert KEY not in "\n".join(shown)
    for call in api.calls:
        assert KEY not in call.path
        assert KEY not in str(call.body)
        assert [name for name, value in call.headers.items() if KEY in value] == [
            "x-goog-api-key" if provider == "gemini" else "Authorization"
        ]


@each_keyed
async def test_a_redirect_never_carries_the_key_away(api: EmbeddingApi, make: Make, provider: str) -> None:
    with EmbeddingApi() as other:
        api.script(Fault(status=307, headers={"Location": other.url + "/v1/embeddings"}))
        failure = await failing(make(provider))
        assert other.calls == []
    assert failure.hint == "redirects are not followed: set `embedding.base_url` to where it leads"
