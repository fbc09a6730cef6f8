"""What providers say when they fail, and every exception of aiohttp, in words of ours."""

from __future__ import annotations

import inspect
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import client_exceptions, http_exceptions
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.embedders.client import TRANSLATED, translate
from rowen.adapters.embedders.failures import MAX_WAIT_S, from_status, wait_s
from rowen.adapters.embedders.spec import EmbedderSpec, resolve
from rowen.core.safety.secrets import Secret
from rowen.errors import EmbedderUnavailable

KEY = "sk-very-secret"
RESOLVED = resolve(EmbedderSpec(provider="openai", api_key=Secret(KEY)))
OLLAMA = resolve(EmbedderSpec(provider="ollama", model="nomic-embed-text"))
KINDS = {"rate_limited", "timeout", "server", "connection", "rejected", "auth", "settings"}


def failed(status: int, value: Any = None, **headers: str) -> EmbedderUnavailable:
    body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return from_status(RESOLVED, status, named, body)


def retry_info(delay: str) -> dict[str, Any]:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    return {"error": {"code": 429, "details": ["odd", {"@type": "other"}, info]}}


@pytest.mark.parametrize(
    ("headers", "value", "expected"),
    [
        ({}, None, None),
        ({"retry-after": "20"}, None, 20.0),
        ({"retry-after": "0"}, None, 0.0),
        ({"retry-after": "0.25"}, None, 0.25),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "-5"}, None, None),
        ({"retry-after": "9" * 60}, None, MAX_WAIT_S),
        ({"retry-after-ms": "1500", "retry-after": "2"}, None, 1.5),
        # A date without the server's clock beside it says nothing.
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, None, None),
        (
            {"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"},
            None,
            30.0,
        ),
        ({}, retry_info("34.07s"), 34.07),
        ({"retry-after": "3"}, retry_info("34.07s"), 3.0),
        ({}, retry_info("nonsense"), None),
        ({}, {"error": {"details": "nonsense"}}, None),
        ({}, {"error": "nonsense"}, None),
        ({"x-ratelimit-reset-requests": "12ms", "x-ratelimit-reset-tokens": "6m0s"}, None, 0.012),
        (
            {
                "x-ratelimit-reset-requests": "12ms",
                "x-ratelimit-remaining-requests": "4999",
                "x-ratelimit-reset-tokens": "1m30.5s",
                "x-ratelimit-remaining-tokens": "0",
            },
            None,
            90.5,
        ),
        ({"x-ratelimit-reset-tokens": "0"}, None, None),
        ({"x-ratelimit-reset-tokens": "59"}, None, 59.0),
        ({"x-ratelimit-reset-tokens": "1m30"}, None, None),
    ],
)
def test_how_long_to_wait_is_read_from_what_the_provider_says(
    headers: dict[str, str], value: Any, expected: float | None
) -> None:
    assert wait_s(headers, value) == pytest.approx(expected)


@given(
    st.dictionaries(
        st.sampled_from(
            ["retry-after", "retry-after-ms", "date", "x-ratelimit-reset-tokens", "x-ratelimit-reset-x"]
        ),
        st.text(max_size=30) | st.from_regex(r"[0-9.msh]{0,20}", fullmatch=True),
    )
)
def test_no_header_breaks_the_reading(headers: dict[str, str]) -> None:
    found = wait_s(headers, None)
    assert found is None or 0 <= found <= MAX_WAIT_S


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "details", "code", "reason", "@type"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.integers(300, 599), JSON | st.text(max_size=40))
def test_no_answer_breaks_the_translation(status: int, value: Any) -> None:
    failure = failed(status, value)
    assert failure.facts["kind"] in KINDS
    assert failure.facts["status"] == status
    assert str(status) in failure.message
    assert "\n" not in failure.message


@pytest.mark.parametrize(
    ("status", "value", "kind"),
    [
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}, "rejected"),
        (400, {"error": "the input length exceeds the context length"}, "rejected"),
        (422, {"error": "`inputs` must have less than 512 tokens", "error_type": "Validation"}, "rejected"),
        (400, {"error": {"message": "batch size is invalid, it should not be larger than 10"}}, "rejected"),
        (413, "", "rejected"),
        (400, {"error": {"message": "Invalid value for 'dimensions' = 5000"}}, "settings"),
        (400, {"message": "invalid request: unsupported input_type"}, "settings"),
        (400, {"error": {"message": "unexpected model name format"}}, "settings"),
        # It does not say what it is about: a harmless text will show it.
        (400, "", "rejected"),
        (400, [{"error": {"details": [{"reason": "API_KEY_INVALID"}], "message": "content"}}], "auth"),
        (401, "", "auth"),
        (402, "", "auth"),
        (403, "", "auth"),
        (404, "", "settings"),
        (405, "", "settings"),
        (409, "", "server"),
        (499, "", "server"),
        (501, "", "settings"),
        (408, "", "timeout"),
        (429, "", "rate_limited"),
        (500, "", "server"),
        (529, "", "server"),
    ],
)
def test_each_status_has_its_kind(status: int, value: Any, kind: str) -> None:
    assert failed(status, value).facts["kind"] == kind


OPENAI = {"type": "invalid_request_error", "param": None}

# As the providers document them, or as they are known to answer.
DOCUMENTED = [
    (
        401,
        {"error": {**OPENAI, "message": "Incorrect API key provided: sk-***", "code": "invalid_api_key"}},
        "auth",
    ),
    (403, {"error": {"message": "Country, region, or territory not supported", "code": None}}, "auth"),
    (
        404,
        {"error": {**OPENAI, "message": "The model `x` does not exist", "code": "model_not_found"}},
        "settings",
    ),
    (
        400,
        {
            "error": {
                **OPENAI,
                "message": "This model's maximum context length is 8192 tokens, however you requested 9100",
            }
        },
        "rejected",
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "API key not valid. Please pass a valid API key.",
                "status": "INVALID_ARGUMENT",
                "details": [{"@type": "t/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
            }
        },
        "auth",
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "User location is not supported for the API use.",
                "status": "FAILED_PRECONDITION",
            }
        },
        "auth",
    ),
    (403, {"error": {"code": 403, "message": "denied", "status": "PERMISSION_DENIED"}}, "auth"),
    (
        404,
        {
            "error": {
                "code": 404,
                "message": "models/x is not found for API version v1beta, or is not supported",
                "status": "NOT_FOUND",
            }
        },
        "settings",
    ),
    (
        400,
        {"error": {"code": 400, "message": "Request payload is too large", "status": "INVALID_ARGUMENT"}},
        "rejected",
    ),
    (404, {"error": 'model "x" not found, try pulling it first'}, "settings"),
    (400, {"error": "the input length exceeds the context length"}, "rejected"),
    (501, {"error": "this model does not support embeddings"}, "settings"),
    (401, {"message": "invalid api token"}, "auth"),
    (402, {"message": "Please add or update your payment method"}, "auth"),
    (404, {"message": "model 'x' not found, make sure the correct model ID was used"}, "settings"),
    (400, {"message": "invalid request: model 'x' is not supported by the embed API"}, "settings"),
    (400, {"message": "invalid request: valid input_type must be provided with the model"}, "settings"),
    (400, {"message": "too many tokens: size limit exceeded by 11326 tokens."}, "rejected"),
    (498, {"message": "blocked"}, "rejected"),
    (401, {"detail": "Provided API key is invalid."}, "auth"),
    (400, {"detail": "Model x is not supported. Supported models are ['voyage-3.5']."}, "settings"),
    (
        400,
        {"detail": "The max allowed tokens per submitted batch is 320000. Your batch has 400000 tokens."},
        "rejected",
    ),
]


@pytest.mark.parametrize(("status", "value", "kind"), DOCUMENTED)
def test_a_wrong_key_or_model_is_told_from_a_text_that_is_too_long(
    status: int, value: Any, kind: str
) -> None:
    assert failed(status, value).facts["kind"] == kind


def test_a_message_names_the_model_the_status_and_the_address() -> None:
    failure = failed(429, {"error": {"message": "Rate limit reached\nfor tokens"}}, retry_after="7")
    assert failure.message == (
        "model `openai:text-embedding-3-small`: 429 from `https://api.openai.com`: Rate limit reached"
    )
    assert failure.retry_after_s == 7.0
    assert failure.facts == {
        "kind": "rate_limited",
        "status": 429,
        "provider": "openai",
        "model": "text-embedding-3-small",
        "url": "https://api.openai.com",
    }


def test_long_words_of_a_provider_are_cut_and_keys_in_them_are_hidden() -> None:
    failure = failed(500, {"error": {"message": "x" * 190 + KEY + "\x1b[2J" + "y" * 5000}})
    assert len(failure.message) < 300
    assert "\x1b" not in failure.message
    # Not even the part of it that a cut would have left.
    assert "sk-very" not in failure.message


def test_what_is_said_about_a_key_is_not_repeated() -> None:
    failure = failed(401, {"error": {"message": "Incorrect API key provided: sk-ve********cret"}})
    assert failure.message == "model `openai:text-embedding-3-small`: 401 from `https://api.openai.com`"
    assert failure.hint is not None
    assert "`OPENAI_API_KEY`" in failure.hint


def test_hints_name_the_next_step() -> None:
    quota = failed(429, {"error": {"message": "quota", "code": "insufficient_quota"}})
    assert quota.hint == "check the plan and the credit of the account"
    missing = from_status(OLLAMA, 404, {}, b'{"error": "model not found"}')
    assert missing.hint is not None
    assert missing.hint.startswith("`ollama pull nomic-embed-text`")
    assert failed(402).hint == "check the credit of the account"
    assert failed(400, {"message": "bad dimensions"}).hint == "check the settings under `embedding`"


def _exceptions() -> Iterator[type[Exception]]:
    for module in (client_exceptions, http_exceptions):
        for _, thing in inspect.getmembers(module, inspect.isclass):
            if issubclass(thing, Exception) and thing.__module__.startswith("aiohttp."):
                yield thing


# Only websockets raise this one, and Rowen opens none.
OURS = [cls for cls in _exceptions() if cls.__name__ != "WSMessageTypeError"]


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.__name__)
def test_each_exception_of_aiohttp_is_translated(cls: type[Exception]) -> None:
    exc = cls.__new__(cls)
    assert isinstance(exc, TRANSLATED)
    failure = translate(exc, RESOLVED)
    assert failure.facts["kind"] in ("timeout", "connection", "server")
    assert (failure.facts["kind"] == "timeout") == issubclass(cls, TimeoutError)
    assert "`https://api.openai.com`" in failure.message


@pytest.mark.parametrize(
    ("exc", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ConnectionResetError(), "connection"),
        (socket.gaierror(-3, "x"), "connection"),
        (UnicodeError("label too long"), "connection"),
    ],
)
def test_what_the_operating_system_says_is_translated(exc: Exception, kind: str) -> None:
    assert isinstance(exc, TRANSLATED)
    assert translate(exc, RESOLVED).facts["kind"] == kind


def test_a_local_server_that_is_not_running_is_asked_after() -> None:
    exc = client_exceptions.ClientConnectorError.__new__(client_exceptions.ClientConnectorError)
    assert translate(exc, OLLAMA).hint == "is `ollama serve` running?"


@pytest.mark.parametrize("status", [400, 404, 429, 500])
@pytest.mark.parametrize(
    "spell", [str, str.upper, lambda key: key[:12] + "...", lambda key: f"...{key[-9:]}"]
)
def test_what_a_provider_says_does_not_give_the_key_or_a_piece_of_it_away(
    status: int, spell: Callable[[str], str]
) -> None:
    key = "sk-barley-1234567890-rye"
    resolved = replace(RESOLVED, api_key=Secret(key))
    body = json.dumps({"error": {"message": f"key {spell(key)} has no such model"}}).encode()
    problem = from_status(resolved, status, {}, body)
    said = problem.message.lower()
    assert "***" in said
    assert "has no such model" in said
    assert not [at for at in range(len(key) - 7) if key[at : at + 8] in said]
