"""What an API answered, as data.

A body in a syntax of RDF goes through the converter's child process first, which makes JSON-LD of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.web import urls
from rowen.errors import Unfetchable
from rowen.fetching import credentials
from rowen.kinds.api.presets.preset import Preset
from rowen.kinds.api.rules import Definition
from rowen.ports.converter import Converter
from rowen.ports.fetcher import Response


async def parsed(
    converter: Converter, api: Definition, response: Response, url: str, params: Mapping[str, Any]
) -> Any:
    """An answer as data. Raises `Unfetchable` or `Unparseable`, by its address in messages."""
    shown = urls.without_credentials(url)
    if response.status != 200:
        hint = credentials.hint(params) if response.status in (401, 403) else None
        raise Unfetchable(
            f"`{shown}`: {response.status} from the API", hint=hint, url=shown, status=response.status
        )
    return await read(converter, api, response, shown)


async def read(converter: Converter, by: Definition | Preset, response: Response, shown: str) -> Any:
    """The data of a body, by the reader of a preset. Raises `Unparseable`."""
    body, content_type = response.body, response.headers.get("content-type", "")
    syntax = by.graph_in(body, content_type) if by.graph_in is not None else ""
    if syntax:
        body, content_type = await converter.graph(body, syntax=syntax, url=shown), "application/ld+json"
    return by.decode(body, content_type=content_type, url=shown)
