"""Embedders by the settings and by what the store remembers of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from rowen.config import Config, variable
from rowen.errors import ConfigError
from rowen.places import cache_path

if TYPE_CHECKING:
    from rowen.adapters.embedders import EmbedderSpec
    from rowen.ports.embedder import Embedder


class Embedders:
    """Makes an embedder when it is asked for, and the same one after that; closes what it made."""

    def __init__(self, config: Config) -> None:
        self._config = config.embedding
        self._made: dict[str, Embedder] = {}

    def configured(self) -> Embedder:
        from rowen.adapters.embedders import EmbedderSpec

        config = self._config
        spec = EmbedderSpec(
            provider=config.provider,
            model=config.model,
            base_url=config.base_url,
            dimensions=config.dimensions,
            timeout_s=config.timeout_s,
            options=_options(config.options),
        )
        return self._make(spec, named=config.api_key_env)

    def from_spec(self, values: Mapping[str, Any]) -> Embedder:
        from rowen.adapters.embedders import EmbedderSpec

        spec = EmbedderSpec.from_mapping(values, timeout_s=self._config.timeout_s)
        same_provider = values["provider"] == self._config.provider
        return self._make(spec, named=self._config.api_key_env if same_provider else "")

    def _make(self, spec: EmbedderSpec, *, named: str) -> Embedder:
        from rowen import registers
        from rowen.adapters import embedders

        # Not its `repr`, which would be written first: each process makes one or two of these.
        key = str([getattr(spec, one.name) for one in fields(spec)])
        if key not in self._made:
            make = registers.embedders().named(spec.provider)
            kept = replace(spec, cache=cache_path() / "models")
            self._made[key] = make(embedders.with_key(kept, variable, named=named))
        return self._made[key]

    @property
    def calls(self) -> int:
        """How many calls at a time are worth it."""
        from rowen.adapters.children.cores import half_of_the_cores

        if self._config.provider == "minilm":
            return max(1, half_of_the_cores())
        if self._config.provider != "static":
            return self._config.concurrency
        # More than there are children: while answers are stored, each child has the next texts.
        return 2 * half_of_the_cores() + 1

    async def close(self) -> None:
        for embedder in self._made.values():
            await embedder.close()


def _options(text: str) -> dict[str, Any]:
    import json

    try:
        options = json.loads(text) if text.strip() else {}
    except ValueError as exc:
        raise ConfigError(f"setting `embedding.options`: not JSON: {exc}") from exc
    if not isinstance(options, dict):
        raise ConfigError(
            "setting `embedding.options`: expected an object", hint="""for example '{"path": "data"}'"""
        )
    return options
