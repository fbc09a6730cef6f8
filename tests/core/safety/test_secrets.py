"""Secrets can be sent and cannot be seen."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rowen.core import params
from rowen.core.safety.secrets import Credentials, Secret, fill, header_name, reference
from rowen.errors import ConfigError
from rowen.fetching.credentials import PARAMS


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("hunter2")
    credentials = Credentials("https://a.example", {"X-Key": secret})
    for shown in (str(secret), repr(secret), f"{secret}", repr(credentials), repr([secret])):
        assert "hunter2" not in shown
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert secret.reveal() == "hunter2"


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "https://a.example:8443/",
        "https://www.a.example/",
        "https://a.example.evil.example/",
        "https://evil.example/https://a.example/",
        "https://evil.example/@a.example/",
        "https://a.example@evil.example/",
        "not an address",
    ],
)
def test_nobody_but_the_origin_gets_the_headers(url: str) -> None:
    credentials = Credentials("https://a.example", {"X-Key": Secret("hunter2")})
    assert credentials.headers_for(url) == {}
    assert credentials.headers_for("https://A.example:443/deep?x#y") != {}


def test_values_come_from_variables() -> None:
    variables = {"USER": "me", "PASS": "s3cret\n"}
    assert fill("basic", "${USER}:${PASS}", variables.get) == "me:s3cret"


@pytest.mark.parametrize("variables", [{}, {"PASS": ""}, {"PASS": " \n"}])
def test_a_variable_that_is_not_set_is_named(variables: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="variable `PASS`: not set, and setting `bearer`"):
        fill("bearer", "${PASS}", variables.get)


def test_a_line_break_does_not_make_a_second_header() -> None:
    with pytest.raises(ConfigError, match="variable `KEY`") as caught:
        fill("bearer", "${KEY}", {"KEY": "a\r\nX-Evil: b"}.get)
    assert "X-Evil" not in str(caught.value)


@pytest.mark.parametrize("text", ["hunter2", "", "$HUNTER2", "${}", "${1A}", "{HUNTER2}"])
def test_a_value_instead_of_a_reference_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="expected a reference"):
        reference(text)
    with pytest.raises(ConfigError, match="setting `bearer`: expected a reference") as caught:
        params.read(PARAMS, {"bearer": text})
    assert "hunter2" not in repr(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", ["", "X Key", "X:Key", "Host", "content-length", "If-None-Match"])
def test_headers_that_are_ours_or_no_headers_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        header_name(name)


def test_a_table_is_read_key_by_key() -> None:
    given = {"header.X-A": "${A}", "header.x.b": "${B}", "cookie": "${C}"}
    values = params.read(PARAMS, given)
    assert values == {"header": {"X-A": "${A}", "x.b": "${B}"}, "cookie": "${C}"}
    assert params.identity(PARAMS, values) == values
    complete: dict[str, Any] = params.complete(PARAMS, {})
    assert complete == {"header": {}, "cookie": "", "basic": "", "bearer": ""}


@pytest.mark.parametrize("name", ["header", "header.", "bearer.x", "heder.X", "bearer."])
def test_a_table_without_a_key_and_a_key_without_a_table_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"setting `{name}`"):
        params.read(PARAMS, {name: "${A}"})
