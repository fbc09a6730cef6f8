"""What an operator chooses about an embedder, and what it comes to.

The providers with their usual addresses, limits and variables, and the models whose size is known, so that most
settings can stay empty. Nothing here is sent and nothing is imported that is slow: a wrong setting is told before
any of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from rowen.core import hashing, urls
from rowen.core.secrets import Secret
from rowen.errors import ConfigError
from rowen.ports.embedder import Model

STATIC = "static"
ALPHA = 0.5
"""Weight in the fusion for a model of which nothing else is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSpec:
    """Empty text and zero stand for the provider's usual value."""

    provider: str = STATIC
    model: str = ""
    base_url: str = ""
    """The operator's choice, so it may be private. No redirect ever leads away from it."""
    dimensions: int = 0
    api_key: Secret | None = None
    key_variable: str = ""
    """Where the key came from, for messages."""
    timeout_s: float = 30.0
    task_types: bool = True
    """Tell documents and queries apart, where the model can."""
    batch_size: int = 0
    max_tokens: int = 0
    encoding: str = ""
    """`float`, `base64` or `int8`, as far as the provider has them."""
    identity: str = ""
    """Says that this model is the same wherever it answers; without it the address is part of the model."""
    send_dimensions: bool | None = None
    """Ask for vectors of that length instead of only expecting them; None decides by what is known."""

    @classmethod
    def from_mapping(
        cls,
        values: Mapping[str, Any],
        *,
        api_key: Secret | None = None,
        key_variable: str = "",
        timeout_s: float = 30.0,
    ) -> EmbedderSpec:
        """The other direction of `Embedder.spec`, which holds neither keys nor limits."""
        return cls(**values, api_key=api_key, key_variable=key_variable, timeout_s=timeout_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    base_url: str
    path: str
    """Added to a base URL that has none: most write the version there, some do not."""
    key_variable: str
    key_required: bool
    """At its own address; elsewhere an OpenAI-compatible server may need none."""
    model: str
    batch_size: int
    batch_size_elsewhere: int
    max_tokens: int
    cuts_itself: bool
    """Does it cut a text that is too long, or refuse it?"""
    encodings: tuple[str, ...] = ("float",)
    encoding_elsewhere: str = "float"


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        base_url="https://api.openai.com/v1",
        path="/v1",
        key_variable="OPENAI_API_KEY",
        key_required=True,
        model="text-embedding-3-small",
        # 2,048 texts and 300,000 tokens are allowed; 128 passages of ours stay far below the second.
        batch_size=128,
        # The limit text-embeddings-inference starts with.
        batch_size_elsewhere=32,
        max_tokens=8191,
        cuts_itself=False,
        # Half the bytes. Elsewhere some servers refuse it.
        encodings=("base64", "float"),
    ),
    "gemini": Provider(
        base_url="https://generativelanguage.googleapis.com/v1beta",
        path="/v1beta",
        key_variable="GEMINI_API_KEY",
        key_required=True,
        model="gemini-embedding-001",
        batch_size=100,
        batch_size_elsewhere=100,
        max_tokens=2048,
        cuts_itself=False,
    ),
    "ollama": Provider(
        base_url="http://localhost:11434",
        path="",
        key_variable="",
        key_required=False,
        model="nomic-embed-text",
        # One machine works them off one by one: a large batch only makes a time-out likelier.
        batch_size=32,
        batch_size_elsewhere=32,
        max_tokens=8192,
        cuts_itself=True,
    ),
    "cohere": Provider(
        base_url="https://api.cohere.com/v2",
        path="/v2",
        key_variable="COHERE_API_KEY",
        key_required=True,
        model="embed-v4.0",
        batch_size=96,
        batch_size_elsewhere=96,
        max_tokens=8192,
        cuts_itself=True,
        encodings=("float", "int8"),
    ),
    "voyage": Provider(
        base_url="https://api.voyageai.com/v1",
        path="/v1",
        key_variable="VOYAGE_API_KEY",
        key_required=True,
        model="voyage-3.5",
        batch_size=128,
        batch_size_elsewhere=128,
        max_tokens=16_000,
        cuts_itself=True,
        encodings=("base64", "float"),
    ),
}


@dataclass(frozen=True, slots=True)
class KnownModel:
    dimensions: int
    max_tokens: int = 0
    document: str = ""
    query: str = ""
    """What its makers want in front of a text; where an API has task types of its own, it is left to those."""


_GEMMA = ("title: none | text: ", "task: search result | query: ")
_SENTENCE = "Represent this sentence for searching relevant passages: "

# Local servers spell the same model in many ways, so a part of the name is enough; the longest part wins.
KNOWN_MODELS: Mapping[str, KnownModel] = {
    "text-embedding-3-small": KnownModel(1536),
    "text-embedding-3-large": KnownModel(3072),
    "text-embedding-ada-002": KnownModel(1536),
    "gemini-embedding-001": KnownModel(3072, 2048),
    # The second one takes no task type: the task stands in the text.
    "gemini-embedding-2": KnownModel(3072, 8192, *_GEMMA),
    "embeddinggemma": KnownModel(768, 2048, *_GEMMA),
    "nomic-embed-text": KnownModel(768, 2048, "search_document: ", "search_query: "),
    "mxbai-embed-large": KnownModel(1024, 512, "", _SENTENCE),
    "all-minilm": KnownModel(384, 256),
    "bge-m3": KnownModel(1024, 8192),
    "bge-large-en": KnownModel(1024, 512, "", _SENTENCE),
    "bge-base-en": KnownModel(768, 512, "", _SENTENCE),
    "bge-small-en": KnownModel(384, 512, "", _SENTENCE),
    "embed-v4.0": KnownModel(1536),
    "embed-english-v3.0": KnownModel(1024, 512),
    "embed-multilingual-v3.0": KnownModel(1024, 512),
    "embed-english-light-v3.0": KnownModel(384, 512),
    "embed-multilingual-light-v3.0": KnownModel(384, 512),
    "voyage-3": KnownModel(1024),
    "voyage-3.5": KnownModel(1024),
    "voyage-3-lite": KnownModel(512),
    "voyage-code-3": KnownModel(1024),
    "voyage-multilingual-2": KnownModel(1024),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A spec with every value decided: what the adapters work with."""

    provider: str
    model: str
    base_url: str
    dimensions: int
    ask_dimensions: bool
    api_key: Secret | None
    key_variable: str
    timeout_s: float
    task_types: bool
    document_prefix: str
    query_prefix: str
    batch_size: int
    max_tokens: int
    cuts_itself: bool
    encoding: str
    origin: str
    identity: str
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    def as_model(self) -> Model:
        """Its identity is what would give the same vectors again, as far as one can know from outside.

        The digest covers provider, model, host and port, dimensions, and how documents and queries are told
        apart. Weights behind an address cannot be seen, so two addresses are two models, unless the operator
        gives both the same `identity`.
        """
        parts = {
            "provider": self.provider,
            "model": self.model,
            "where": self.identity or self.origin.partition("://")[2],
            "dimensions": self.dimensions,
            "task_types": self.task_types,
            "prefixes": [self.document_prefix, self.query_prefix],
            # Numbers that were rounded by the provider are others; base64 are the same ones.
            "rounded": self.encoding == "int8",
        }
        digest = hashing.of_mapping(parts).hex()[:16]
        return Model(name=self.name, digest=digest, dimensions=self.dimensions, alpha=ALPHA)

    def as_spec(self) -> dict[str, Any]:
        return {
            "provider": self.provider,
            "model": self.model,
            "base_url": self.base_url,
            "dimensions": self.dimensions,
            **self.asked,
        }


def names() -> tuple[str, ...]:
    return (STATIC, *PROVIDERS)


def key_variable(provider: str, *, base_url: str = "", named: str = "") -> str:
    """The variable that holds the key, or nothing.

    The usual variable of a provider belongs to the provider's own address. Another address gets a key only when
    its variable was named: `OPENAI_API_KEY` is not for everybody who speaks OpenAI's language.
    """
    if named:
        return named
    found = PROVIDERS.get(provider)
    if found is None or (base_url and urls.origin_of(base_url) != urls.origin_of(found.base_url)):
        return ""
    return found.key_variable


def resolve(spec: EmbedderSpec) -> Resolved:
    """Every value decided; raises `ConfigError` and has sent nothing."""
    provider = PROVIDERS.get(spec.provider)
    if provider is None:
        raise unknown_provider(spec.provider)
    base_url = _base_url(spec.base_url or provider.base_url, provider)
    origin = urls.origin_of(base_url)
    at_home = origin == urls.origin_of(provider.base_url)
    _check_key(spec, provider, at_home=at_home, origin=origin)
    model = (spec.model or provider.model).strip()
    if spec.provider == "gemini":
        model = model.removeprefix("models/")
    known = known_model(model)
    dimensions = spec.dimensions or (known.dimensions if known else 0)
    if dimensions <= 0:
        raise ConfigError(
            f"model `{spec.provider}:{model}`: the length of its vectors is not known here",
            hint="set `embedding.dimensions`, for example to 1024; the model's page says how many",
            model=model,
            provider=spec.provider,
        )
    encoding = spec.encoding or (provider.encodings[0] if at_home else provider.encoding_elsewhere)
    if encoding not in provider.encodings:
        allowed = " or ".join(f"`{one}`" for one in provider.encodings)
        raise ConfigError(f"encoding `{encoding}`: `{spec.provider}` has {allowed}", provider=spec.provider)
    prefixes = known if known and spec.task_types and spec.provider not in ("cohere", "voyage") else None
    own = {
        "task_types": (spec.task_types, True),
        "identity": (spec.identity, ""),
        "encoding": (spec.encoding, ""),
        "max_tokens": (spec.max_tokens, 0),
        "batch_size": (spec.batch_size, 0),
        "send_dimensions": (spec.send_dimensions, None),
    }
    return Resolved(
        provider=spec.provider,
        model=model,
        base_url=base_url,
        dimensions=dimensions,
        ask_dimensions=_asks_dimensions(spec, known, at_home=at_home),
        api_key=spec.api_key,
        key_variable=spec.key_variable
        or key_variable(spec.provider, base_url="" if at_home else base_url)
        or "",
        timeout_s=spec.timeout_s,
        task_types=spec.task_types,
        document_prefix=prefixes.document if prefixes else "",
        query_prefix=prefixes.query if prefixes else "",
        batch_size=spec.batch_size or (provider.batch_size if at_home else provider.batch_size_elsewhere),
        max_tokens=spec.max_tokens or (known.max_tokens if known else 0) or provider.max_tokens,
        cuts_itself=provider.cuts_itself,
        encoding=encoding,
        origin=origin,
        identity=spec.identity,
        asked={name: value for name, (value, usual) in own.items() if value != usual},
    )


def known_model(model: str) -> KnownModel | None:
    name = model.lower()
    parts = [part for part in KNOWN_MODELS if part in name]
    return KNOWN_MODELS[max(parts, key=len)] if parts else None


def unknown_provider(name: str) -> ConfigError:
    close = get_close_matches(name, names(), n=1, cutoff=0.5)
    known = ", ".join(f"`{one}`" for one in names())
    return ConfigError(
        f"embedder `{name}` does not exist",
        hint=f"did you mean `{close[0]}`?" if close else f"choose one of {known}",
        name=name,
        known=names(),
    )


def _asks_dimensions(spec: EmbedderSpec, known: KnownModel | None, *, at_home: bool) -> bool:
    if spec.send_dimensions is not None:
        return spec.send_dimensions
    if not spec.dimensions:
        return False
    if known is not None:
        return spec.dimensions != known.dimensions
    # Servers refuse the parameter for models that cannot be cut short; a stranger's number is then only the
    # length to expect. Ollama takes any and cuts by itself.
    return at_home or spec.provider == "ollama"


def _base_url(text: str, provider: Provider) -> str:
    parts = urlsplit(text.strip()) if "://" in text else None
    href = urls.normalise(text.strip()) if parts is not None else None
    if parts is None or href is None:
        # Not repeated: what cannot be read may hold anything.
        raise ConfigError(
            "setting `embedding.base_url`: not an http address",
            hint=f"write it like `{provider.base_url}`",
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(
            f"setting `embedding.base_url`: expected `{urls.origin_of(href)}/...` without user, password or query",
            hint="put a key into the environment and name its variable in `embedding.api_key_env`",
        )
    href = href.rstrip("/")
    return href if urlsplit(href).path else href + provider.path


def _check_key(spec: EmbedderSpec, provider: Provider, *, at_home: bool, origin: str) -> None:
    usual = provider.key_variable
    if spec.api_key is not None:
        value = spec.api_key.reveal()
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            variable = spec.key_variable or usual or "the key's variable"
            raise ConfigError(
                f"variable `{variable}`: not a key, it is empty or holds a space or control character",
                hint="nothing was sent",
                variable=variable,
            )
        return
    # Whoever names a variable means it; an OpenAI-compatible server of one's own often wants no key.
    needed = bool(spec.key_variable) or (provider.key_required and (at_home or spec.provider != "openai"))
    if not needed:
        return
    variable = spec.key_variable or usual
    hint = f"set it in the environment of this command: `export {variable}=...`; nothing was sent"
    if not at_home and not spec.key_variable:
        hint = (
            f"name the variable whose key may go to `{origin}` in `embedding.api_key_env`; nothing was sent"
        )
    raise ConfigError(
        f"variable `{variable}`: not set, and provider `{spec.provider}` needs a key",
        hint=hint,
        variable=variable,
        provider=spec.provider,
    )
