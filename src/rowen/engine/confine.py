"""What a source may reach: addresses that the operator of this machine named may be private, others may not.

A source that came over the network gets ports that lead to public addresses, to the folders and to the
variables that the operator allows, and nowhere else. Kinds need no check of their own: they can do only what
their ports do. `fetch.allow_private` allows private addresses for all sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from rowen.core.safety import secrets
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.errors import ConfigError
from rowen.ports.fetcher import Fetcher, FetcherOptions


def of_source(ports: Ports, source: Source) -> Ports:
    """The ports for a run of this source."""
    return ports if source.is_typed else limited(ports)


def limited(ports: Ports) -> Ports:
    """The ports for locations that came over the network."""
    settings = ports.fetch

    def open_fetcher(options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]:
        check_ca_file(ports, options.ca_file)
        return ports.open_fetcher(replace(options, typed_location=None))

    def variable(name: str) -> str | None:
        return ports.secrets(name) if name in settings.allowed_variables else None

    folders = ports.folders.within(settings.allowed_roots)
    return replace(
        ports,
        open_fetcher=open_fetcher,
        folders=folders,
        repositories=ports.repositories.public(
            may_read=lambda path: folders.locate(path) is not None, allow_private=settings.allow_private
        ),
        secrets=variable,
    )


def check_ca_file(ports: Ports, path: str | None) -> None:
    """May a source that came over the network read this file? Raises `ConfigError`."""
    if path and ports.folders.within(ports.fetch.allowed_roots).locate(path) is None:
        raise ConfigError(
            "setting `ca_file`: the file may not be read for sources added by API, or is not there",
            hint="the operator allows folders with `service.allowed_roots`",
            setting="ca_file",
        )


def check_variables(ports: Ports, settings: Mapping[str, str]) -> None:
    """May these settings refer to their variables? Their values are sent to the server that the source names.

    Raises `ConfigError`.
    """
    for setting, text in settings.items():
        if not set(secrets.names(text)) <= set(ports.fetch.allowed_variables):
            raise ConfigError(
                f"setting `{setting}`: the variable it refers to may not be used by sources added by API"
                " or by a list that was fetched",
                hint="the operator allows variables with `service.allowed_variables`",
                setting=setting,
            )
