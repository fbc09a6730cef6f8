"""Settings to embedders: what is filled in, what is refused, and what makes two models the same."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters import embedders
from rowen.adapters.embedders import EmbedderSpec, key_variable, with_key
from rowen.adapters.embedders.providers import KNOWN_MODELS, PROVIDERS, known_model
from rowen.adapters.embedders.remote import RemoteEmbedder, fit
from rowen.adapters.embedders.spec import Resolved, resolve
from rowen.adapters.embedders.static import StaticEmbedder
from rowen.core.safety.secrets import Secret
from rowen.errors import ConfigError

KEY = Secret("sk-very-secret")


def resolved(provider: str, **values: Any) -> Resolved:
    return resolve(EmbedderSpec(provider=provider, **({"api_key": KEY} | values)))


def refused(**values: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        embedders.make(EmbedderSpec(**values))
    return caught.value


# What is filled in


@pytest.mark.parametrize(
    ("provider", "name", "dimensions", "batch_size"),
    [
        ("openai", "openai:text-embedding-3-small", 1536, 128),
        ("gemini", "gemini:gemini-embedding-001", 3072, 100),
        ("ollama", "ollama:nomic-embed-text", 768, 32),
        ("cohere", "cohere:embed-v4.0", 1536, 96),
        ("voyage", "voyage:voyage-3.5", 1024, 128),
    ],
)
def test_a_provider_alone_is_enough(provider: str, name: str, dimensions: int, batch_size: int) -> None:
    embedder = embedders.make(EmbedderSpec(provider=provider, api_key=KEY))
    assert isinstance(embedder, RemoteEmbedder)
    model = embedder.model
    assert (model.name, model.dimensions, model.alpha) == (name, dimensions, 0.5)
    assert embedder.batch_size == batch_size
    assert len(model.digest) == 16


def test_the_local_model_is_made_by_its_spec() -> None:
    for spec in (EmbedderSpec(), EmbedderSpec.from_mapping(StaticEmbedder().spec)):
        assert isinstance(embedders.make(spec), StaticEmbedder)


@pytest.mark.parametrize(
    ("provider", "given", "url"),
    [
        ("openai", "http://localhost:1234", "http://localhost:1234/v1/embeddings"),
        ("openai", "http://localhost:1234/v1/", "http://localhost:1234/v1/embeddings"),
        ("openai", "http://10.0.0.1/openai/v1/embeddings", "http://10.0.0.1/openai/v1/embeddings"),
        ("ollama", "http://box:11434/", "http://box:11434/api/embed"),
        ("ollama", "http://box:11434/api", "http://box:11434/api/embed"),
        ("gemini", "https://proxy.example/g", "https://proxy.example/g/models/m:batchEmbedContents"),
        ("cohere", "https://proxy.example", "https://proxy.example/v2/embed"),
        ("voyage", "https://proxy.example", "https://proxy.example/v1/embeddings"),
    ],
)
def test_a_base_url_is_understood_as_people_write_it(provider: str, given: str, url: str) -> None:
    from rowen.adapters.embedders.apis import APIS

    assert APIS[provider].url(resolved(provider, base_url=given, model="m", dimensions=8)) == url


def test_a_model_is_known_by_the_longest_part_of_its_name() -> None:
    assert known_model("text-embedding-nomic-embed-text-v1.5") is KNOWN_MODELS["nomic-embed-text"]
    assert known_model("BAAI/bge-m3") is KNOWN_MODELS["bge-m3"]
    assert known_model("voyage-3-lite") is KNOWN_MODELS["voyage-3-lite"]
    assert known_model("voyage-3-large") is KNOWN_MODELS["voyage-3"]
    assert known_model("something-else") is None


@pytest.mark.parametrize(
    ("provider", "values", "asked"),
    [
        ("openai", {}, False),
        ("openai", {"dimensions": 1536}, False),
        ("openai", {"dimensions": 512}, True),
        ("openai", {"model": "text-embedding-9", "dimensions": 512}, True),
        # A server that cannot cut this model short would refuse the parameter.
        ("openai", {"model": "mine", "dimensions": 512, "base_url": "http://localhost:8000"}, False),
        (
            "openai",
            {"model": "m", "dimensions": 9, "base_url": "http://localhost:1", "send_dimensions": True},
            True,
        ),
        ("ollama", {"model": "mine", "dimensions": 512, "base_url": "http://box:11434"}, True),
    ],
)
def test_dimensions_are_asked_for_only_where_that_can_be_right(
    provider: str, values: dict[str, Any], asked: bool
) -> None:
    assert resolved(provider, **values).ask_dimensions is asked


def test_base64_is_asked_for_only_where_it_is_known_to_work() -> None:
    assert resolved("openai").encoding == "base64"
    assert resolved("openai", base_url="http://localhost:8000").encoding == "float"


# What is refused


def test_a_model_of_unknown_size_is_refused_with_the_setting_to_make() -> None:
    error = refused(provider="ollama", model="brand-new")
    assert "`ollama:brand-new`" in error.message
    assert error.hint is not None
    assert "`embedding.dimensions`" in error.hint


@pytest.mark.parametrize("provider", [name for name, one in PROVIDERS.items() if one.key_variable])
def test_a_missing_key_is_said_with_its_variable_and_nothing_is_sent(provider: str) -> None:
    error = refused(provider=provider)
    variable = PROVIDERS[provider].key_variable
    assert error.message == f"variable `{variable}`: not set, and provider `{provider}` needs a key"
    assert error.hint is not None
    assert f"export {variable}=" in error.hint
    assert "nothing was sent" in error.hint


def test_a_variable_that_was_named_must_hold_a_key() -> None:
    error = refused(provider="openai", base_url="http://localhost:8000", key_variable="MY_KEY")
    assert "variable `MY_KEY`: not set" in error.message


@pytest.mark.parametrize("value", ["two words", "line\nbreak", "schlüssel", ""])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(value: str) -> None:
    error = refused(provider="openai", api_key=Secret(value), key_variable="MY_KEY")
    assert "variable `MY_KEY`: not a key" in error.message
    assert not value or value not in error.message + str(error.hint) + str(error.facts)


@pytest.mark.parametrize(
    "base_url",
    [
        "localhost:11434",
        "ftp://example.org",
        "http://",
        "https://user:hunter2@example.org/v1",
        "https://example.org/v1?key=hunter2",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(base_url: str) -> None:
    error = refused(provider="openai", api_key=KEY, base_url=base_url)
    assert "`embedding.base_url`" in error.message
    assert "hunter2" not in error.message + str(error.hint) + str(error.facts)


def test_an_encoding_the_provider_does_not_have_is_refused() -> None:
    error = refused(provider="openai", api_key=KEY, encoding="int8")
    assert error.message == "encoding `int8`: `openai` has `base64` or `float`"


# Keys


def test_the_usual_key_goes_to_the_providers_own_address_only() -> None:
    assert key_variable("openai") == "OPENAI_API_KEY"
    assert key_variable("openai", base_url="https://API.openai.com/v1/") == "OPENAI_API_KEY"
    assert key_variable("openai", base_url="https://api.openai.com.evil.example/v1") == ""
    assert key_variable("openai", base_url="http://api.openai.com/v1") == ""
    assert key_variable("openai", base_url="http://localhost:8000", named="MY_KEY") == "MY_KEY"
    assert key_variable("ollama") == ""
    assert key_variable("static") == ""


def test_a_key_is_looked_up_and_its_line_break_is_dropped() -> None:
    environment = {"OPENAI_API_KEY": "sk-1\n", "MY_KEY": "sk-2"}
    spec = with_key(EmbedderSpec(provider="openai"), environment.get)
    assert spec.api_key is not None
    assert spec.api_key.reveal() == "sk-1"
    named = with_key(spec, environment.get, named="MY_KEY")
    assert named.api_key is not None
    assert (named.api_key.reveal(), named.key_variable) == ("sk-2", "MY_KEY")
    elsewhere = with_key(EmbedderSpec(provider="openai", base_url="http://localhost:8000"), environment.get)
    assert elsewhere.api_key is None


def test_another_address_is_told_how_to_get_the_key() -> None:
    spec = with_key(EmbedderSpec(provider="gemini", base_url="https://proxy.example"), {}.get)
    with pytest.raises(ConfigError) as caught:
        embedders.make(spec)
    assert caught.value.hint is not None
    assert "name the variable whose key may go to `https://proxy.example`" in caught.value.hint


def test_a_spec_shows_no_key() -> None:
    assert "***" in repr(EmbedderSpec(provider="openai", api_key=KEY))
    assert "very-secret" not in repr(EmbedderSpec(provider="openai", api_key=KEY)) + repr(resolved("openai"))


# Identity


def digest(**values: Any) -> str:
    return embedders.make(EmbedderSpec(**({"provider": "openai", "api_key": KEY} | values))).model.digest


def test_what_changes_the_vectors_makes_another_model() -> None:
    here, there = "http://localhost:1234/v1", "http://localhost:8000/v1"
    found = [
        digest(),
        digest(dimensions=512),
        digest(model="text-embedding-3-large"),
        digest(base_url=here),
        digest(base_url=there),
        digest(base_url=here, model="nomic-embed-text"),
        digest(base_url=here, model="nomic-embed-text", task_types=False),
        digest(provider="voyage"),
    ]
    assert len(set(found)) == len(found)


def test_what_does_not_change_the_vectors_leaves_the_model_the_same() -> None:
    assert digest() == digest(
        base_url="https://api.openai.com/v1/",
        dimensions=1536,
        timeout_s=1,
        batch_size=7,
        encoding="float",
        api_key=Secret("another"),
    )


def test_the_operator_may_say_that_two_addresses_are_one_model() -> None:
    here, there = "http://localhost:1234/v1", "http://localhost:8000/v1"
    assert digest(base_url=here, identity="ours") == digest(base_url=there, identity="ours")


@pytest.mark.parametrize(
    "values",
    [
        {"provider": "static"},
        {"provider": "openai"},
        {"provider": "gemini", "dimensions": 768},
        {"provider": "ollama", "model": "mine", "dimensions": 99, "base_url": "http://box:11434"},
        {"provider": "cohere", "encoding": "int8", "task_types": False},
        {"provider": "openai", "base_url": "http://box/v1", "identity": "ours", "batch_size": 5},
    ],
)
def test_an_embedder_can_be_made_again_from_its_spec(values: dict[str, Any]) -> None:
    first = embedders.make(EmbedderSpec(**({"api_key": KEY} | values)))
    assert "secret" not in str(first.spec)
    environment = {one.key_variable: "another-key" for one in PROVIDERS.values()}
    again = embedders.make(with_key(EmbedderSpec.from_mapping(first.spec), environment.get))
    assert (again.model, again.spec, again.batch_size) == (first.model, first.spec, first.batch_size)


# Lengths


def test_a_text_that_would_be_refused_is_cut_by_its_characters() -> None:
    strict = resolved("openai", max_tokens=100)
    assert fit("a" * 1000, strict) == "a" * 300
    assert fit("字" * 1000, strict) == "字" * 100
    assert fit("a" * 150 + "字" * 1000, strict) == "a" * 150 + "字" * 50


def test_a_provider_that_cuts_by_itself_gets_nearly_everything() -> None:
    assert len(fit("a" * 10_000, resolved("ollama", max_tokens=100))) == 800


@given(st.text(max_size=60), st.integers(1, 20))
def test_a_cut_text_is_the_longest_beginning_within_its_bound(text: str, limit: int) -> None:
    def thirds(some: str) -> int:
        return sum(1 if character.isascii() else 3 for character in some)

    cut = fit(text, resolved("openai", max_tokens=limit))
    readable = text.encode("utf-8", "replace").decode()
    assert readable.startswith(cut)
    if len(text) > limit:
        # What cannot be sent is replaced after the cut.
        assert thirds(text[: len(cut)]) <= 3 * limit
        assert len(cut) == len(text) or thirds(text[: len(cut) + 1]) > 3 * limit
    else:
        assert cut == readable


def test_nothing_heavy_is_imported_for_a_wrong_setting() -> None:
    code = (
        "import sys\nfrom rowen.adapters.embedders import EmbedderSpec, make\n"
        "from rowen.errors import ConfigError\n"
        "try:\n    make(EmbedderSpec(provider='openai'))\nexcept ConfigError:\n"
        "    print([m for m in ('numpy', 'aiohttp', 'orjson') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
