"""What an operator chooses about an embedder, and what it comes to.

Nothing is sent here and nothing slow is imported: a wrong setting is an error before that. What a provider
or a model usually wants stands in `providers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from rowen.adapters.embedders.providers import PROVIDERS, STATIC, KnownModel, Provider, known_model
from rowen.core import hashing
from rowen.core.safety.secrets import Lookup, Secret
from rowen.errors import ConfigError
from rowen.ports.embedder import EmbedderSettings, Model
from rowen.records import dataclass

ALPHA = 0.5
"""Weight in the fusion for a model of which nothing else is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSpec(EmbedderSettings):
    """With what our own providers understand beside it."""

    provider: str = STATIC
    key_variable: str = ""
    """Where the key came from, for messages."""
    task_types: bool = True
    """Tell documents and queries apart, where the model can."""
    batch_size: int = 0
    max_tokens: int = 0
    encoding: str = ""
    """`float`, `base64` or `int8`, as far as the provider has them."""
    identity: str = ""
    """Says that this model is the same wherever it answers; without it the address is part of the model."""
    cache: Path | None = None
    """A folder on this machine for what may be lost."""
    send_dimensions: bool | None = None
    """Ask for vectors of that length instead of only expecting them; None decides by what is known."""

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], *, timeout_s: float = 30.0) -> EmbedderSpec:
        """The other direction of `Embedder.spec`; the key comes by `with_key`."""
        return cls(**values, timeout_s=timeout_s)


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


def key_variable(provider: str, *, base_url: str = "", named: str = "") -> str:
    """The variable that holds the key, or nothing.

    The usual variable of a provider belongs to the provider's own address. Another address gets a key only
    when its variable was named: `OPENAI_API_KEY` is not for every server that speaks OpenAI's protocol.
    """
    if named:
        return named
    found = PROVIDERS.get(provider)
    if found is None or (base_url and _origin_of(base_url) != _origin_of(found.base_url)):
        return ""
    return found.key_variable


def with_key(spec: EmbedderSpec, lookup: Lookup, *, named: str = "") -> EmbedderSpec:
    """The same spec with the key from its variable; `named` is the variable the operator chose, if any."""
    variable = key_variable(spec.provider, base_url=spec.base_url, named=named)
    # A variable that was read from a file often ends with a line break.
    value = (lookup(variable) or "").strip() if variable else ""
    return replace(spec, key_variable=variable, api_key=Secret(value) if value else None)


def resolve(spec: EmbedderSpec) -> Resolved:
    """Every value decided; raises `ConfigError` and has sent nothing."""
    provider = PROVIDERS[spec.provider]
    base_url = _base_url(spec.base_url or provider.base_url, provider)
    origin = _origin_of(base_url)
    at_home = origin == _origin_of(provider.base_url)
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
    encoding = spec.encoding or (provider.encodings[0] if at_home else "float")
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
        key_variable=spec.key_variable or key_variable(spec.provider, base_url=base_url),
        timeout_s=spec.timeout_s,
        task_types=spec.task_types,
        document_prefix=prefixes.document if prefixes else "",
        query_prefix=prefixes.query if prefixes else "",
        batch_size=spec.batch_size or (not at_home and provider.batch_size_elsewhere) or provider.batch_size,
        max_tokens=spec.max_tokens or (known.max_tokens if known else 0) or provider.max_tokens,
        cuts_itself=provider.cuts_itself,
        encoding=encoding,
        origin=origin,
        identity=spec.identity,
        asked={name: value for name, (value, usual) in own.items() if value != usual},
    )


def _asks_dimensions(spec: EmbedderSpec, known: KnownModel | None, *, at_home: bool) -> bool:
    if spec.send_dimensions is not None:
        return spec.send_dimensions
    if not spec.dimensions:
        return False
    if known is not None:
        return spec.dimensions != known.dimensions
    # Servers refuse the parameter for models that cannot be cut short; for an unknown server the number is
    # only the length to expect. Ollama takes any and cuts by itself.
    return at_home or spec.provider == "ollama"


def _origin_of(url: str) -> str:
    from rowen.core.web import urls  # its parser takes long to import, and the local model has no address

    return urls.origin_of(url)


def _base_url(text: str, provider: Provider) -> str:
    from urllib.parse import urlsplit

    from rowen.core.web import urls

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
            f"setting `embedding.base_url`: expected `{_origin_of(href)}/...` without user or query",
            hint="put a key into the environment and name its variable in `embedding.api_key_env`",
        )
    href = href.rstrip("/")
    # Most write the version there, some do not.
    return href if urlsplit(href).path else href + urlsplit(provider.base_url).path


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
    # A variable that was named must be set; an OpenAI-compatible server elsewhere often wants no key.
    needed = bool(spec.key_variable) or (bool(usual) and (at_home or spec.provider != "openai"))
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
