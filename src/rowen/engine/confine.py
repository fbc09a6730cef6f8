"""How far a source may reach: what the operator of this machine names may be private, what others name not.

A source that came over the network gets tools that lead to public addresses, to the folders and to the
variables that the operator allows, and nowhere else. Kinds of source need not know: they cannot do what their
tools do not. `fetch.allow_private` lifts what is said about addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from rowen.core.safety import secrets
from rowen.core.source import Source
from rowen.errors import ConfigError
from rowen.ports.bundle import Tools
from rowen.ports.fetcher import Fetcher, FetcherOptions


def of_source(tools: Tools, source: Source) -> Tools:
    """The tools for a run of this source."""
    return tools if source.is_typed else limited(tools)


def limited(tools: Tools) -> Tools:
    """The tools for what somebody else than the operator has named."""
    settings = tools.fetch

    def open_fetcher(options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]:
        return tools.open_fetcher(replace(options, typed_location=None))

    def variable(name: str) -> str | None:
        return tools.secrets(name) if name in settings.allowed_variables else None

    folders = tools.folders.within(settings.allowed_roots)
    return replace(
        tools,
        open_fetcher=open_fetcher,
        folders=folders,
        repositories=tools.repositories.public(
            may_read=lambda path: folders.locate(path) is not None, allow_private=settings.allow_private
        ),
        secrets=variable,
    )


def check_variables(tools: Tools, settings: Mapping[str, str]) -> None:
    """Whoever names a variable has its value sent to a server of their choice. Raises `ConfigError`."""
    for setting, text in settings.items():
        if not set(secrets.names(text)) <= set(tools.fetch.allowed_variables):
            raise ConfigError(
                f"setting `{setting}`: the variable it refers to may not be used by sources added by API",
                hint="the operator allows variables with `service.allowed_variables`",
                setting=setting,
            )
