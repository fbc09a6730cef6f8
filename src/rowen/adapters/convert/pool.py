"""Conversion in child processes, so that one bad page can neither stall nor end a run.

A page whose child takes too long or dies is `Unparseable`; the others go on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from rowen.adapters.children.pool import ChildDied, ChildPool
from rowen.adapters.convert import frames
from rowen.adapters.convert.data.graphs import require
from rowen.adapters.convert.formats import PluginFormat, kind_of, plugin_names
from rowen.core.document import Converted
from rowen.errors import Unparseable

FindPlugin = Callable[[Sequence[str]], PluginFormat | None]
"""The plug-in that reads the first of some content types and endings, if there is one."""


def no_plugin(names: Sequence[str]) -> None:
    return None


class PoolConverter:
    """The `Converter` port."""

    def __init__(
        self,
        workers: int = 2,
        timeout_s: float = 20.0,
        memory_mb: int = 1024,
        *,
        find_plugin: FindPlugin = no_plugin,
        command: Sequence[str] | None = None,
    ) -> None:
        """`command` starts another child than ours: for tests of what a child can do wrong."""
        self._find_plugin = find_plugin
        self._timeout_s = timeout_s
        # The child's own limit is the last resort, for when the parent is gone: later than ours.
        limits = (str(memory_mb), str(2 * timeout_s + 5))
        worker = (sys.executable, "-P", "-m", "rowen.adapters.convert.worker", *limits)
        self._pool = ChildPool(worker if command is None else command, workers, who="converter")

    def handles(self, content_type: str, url: str) -> bool:
        return kind_of(content_type, url) is not None or self._plugin(content_type, url) is not None

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        plugin = self._plugin(content_type, url)
        return await self._ask(
            frames.request(body, content_type=content_type, url=url, plugin=plugin), url=url
        )

    async def graph(self, body: bytes, *, syntax: str, url: str) -> bytes:
        require(syntax, url)
        answer = await self._ask(frames.request(body, content_type="", url=url, syntax=syntax), url=url)
        return answer.text.encode()

    async def _ask(self, request: bytes, *, url: str) -> Converted:
        try:
            answer = await self._pool.ask(request, frames.read_answer, timeout_s=self._timeout_s)
        except TimeoutError as exc:
            message = f"`{url}`: not parsed within {self._timeout_s:g} s"
            raise Unparseable(message, url=url, timeout_s=self._timeout_s) from exc
        except ChildDied as exc:
            raise Unparseable(f"`{url}`: the parser died on it", url=url) from exc
        if isinstance(answer, frames.Refusal):
            raise Unparseable(answer.message, hint=answer.hint, url=url)
        return answer

    async def close(self) -> None:
        await self._pool.close()

    def _plugin(self, content_type: str, url: str) -> PluginFormat | None:
        names = plugin_names(content_type, url)
        return self._find_plugin(names) if names else None
