"""Rowen from Python, with a store kept open between calls.

    with Rowen(db="sqlite:////srv/rowen/rowen.db") as rowen:
        rowen.add("https://docs.example.org/", name="docs")
        receipt = rowen.sync("docs", on_event=print)

    async with AsyncRowen() as rowen:
        answer = await rowen.search("install")

`AsyncRowen` does the work; `Rowen` runs it on an event loop of its own, one call at a time, and is for
programs that have no loop. Both return the values of `core`; errors are those of `rowen.errors`. Ctrl-C
during `sync` ends the run cleanly before `KeyboardInterrupt` is raised.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from rowen import config as settings
from rowen import wiring
from rowen.core.freshness.truth import Truth
from rowen.core.generation import Diff, GenerationHistory
from rowen.core.rules.standing import PYTHON
from rowen.core.run import Event
from rowen.core.search.hit import Answer, SearchMode
from rowen.core.source import Source
from rowen.doors import asking, states
from rowen.doors.states import SourceStatus
from rowen.engine.intake import unheard
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.errors import UserError
from rowen.managing import find as finding
from rowen.managing import pausing, sources
from rowen.managing.sources import Added
from rowen.reading import addresses, history, versions
from rowen.reading import diff as differences
from rowen.reading.diff import DocumentDiff
from rowen.reading.versions import Compared
from rowen.service.attempts import sync_now

if TYPE_CHECKING:
    from rowen.core.exchange.sink import Sink
    from rowen.managing.inspect import Inspection

OnEvent = Callable[[Event], None]
P = ParamSpec("P")
T = TypeVar("T")


class AsyncRowen:
    """For programs with an event loop. Use it in the loop that entered it."""

    def __init__(self, db: str | None = None) -> None:
        """`db` is the store, `sqlite:///path`; if omitted, ROWEN_DB or the user's data folder."""
        self._config, _ = settings.load(db=db)
        self._stack = AsyncExitStack()
        self._opened: Ports | None = None

    async def __aenter__(self) -> Self:
        self._opened = await self._stack.enter_async_context(wiring.open_ports(self._config))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._opened = None
        await self._stack.aclose()

    async def add(
        self,
        location: str,
        *,
        name: str,
        kind: str | None = None,
        version: str = "",
        settings: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Added:
        """Add a source; `settings` are its parameters as text, as `--set` takes them."""
        return await sources.add(
            self._ports, location, name=name, kind=kind, version=version, settings=settings, check=check
        )

    async def remove(self, name: str) -> None:
        await sources.remove(self._ports, await finding.find(self._ports.store, name))

    async def sync(
        self, name: str, *, full: bool = False, force: bool = False, on_event: OnEvent = unheard
    ) -> Receipt:
        """Bring the copy of a source up to date. A run that fails or is held does not raise.

        Raises `TransientError` while the upstream of the source is paused, unless it is forced.
        """
        source = await finding.find(self._ports.store, name)
        return await sync_now(self._ports, source, full=full, force=force, on_event=on_event)

    async def search(
        self,
        query: str,
        *,
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        language: str = "",
        mode: SearchMode | str = SearchMode.HYBRID,
        limit: int = 10,
        prefix: bool = False,
        as_of: str | datetime | None = None,
        generation: int | None = None,
        fresh: float | None = None,
    ) -> Answer:
        """With `prefix` the last word may be the beginning of one, as it is being typed.

        With `as_of` (a date, an instant, `2d` for two days ago), or with the `generation` of one source, the
        answer is that of an earlier time; `Answer.as_of` says which generation of each source it comes from.
        With `fresh`, hits that are not current with this probability are asked for again before it answers,
        and what changed is taken in; `Answer.rechecked` says what came of it.
        """
        return await asking.search(
            self._ports,
            query,
            sources=sources,
            kinds=kinds,
            language=language,
            mode=_mode(mode),
            limit=limit,
            prefix=prefix,
            as_of=as_of,
            generation=generation,
            fresh=fresh,
        )

    async def look_up(self, url: str) -> Truth:
        """What is known of an address: present, gone or unknown, with evidence and time. Nothing is asked."""
        return await addresses.truth(self._ports.store, url, self._ports.clock.now())

    async def status(self) -> list[SourceStatus]:
        return await states.statuses(self._ports)

    async def diff(
        self, name: str, *, from_generation: int | None = None, to_generation: int | None = None
    ) -> Diff:
        return await history.diff(
            self._ports.store,
            await self._find(name),
            from_generation=from_generation,
            to_generation=to_generation,
        )

    async def document_diff(
        self,
        name: str,
        reference: str,
        *,
        from_generation: int | None = None,
        to_generation: int | None = None,
    ) -> DocumentDiff:
        """One document in two generations: its sections, and the words that differ in them."""
        source = await self._find(name)
        before, after = await history.span(
            self._ports.store, source, from_generation=from_generation, to_generation=to_generation
        )
        return await differences.document(
            self._ports.store, source, reference, from_generation=before, to_generation=after
        )

    async def compare(self, before: str, after: str, *, limit: int = versions.LISTED) -> Compared:
        """What changed between two versions of one thing: names, signatures, sections, pages."""
        pair = await finding.find_pair(self._ports.store, before, after)
        return await versions.compare(self._ports.store, *pair, limit=limit)

    async def inspect(self, url: str, *, source: str | None = None) -> Inspection:
        """What would become of one page; it is asked for once, and nothing is stored."""
        from rowen.managing.inspect import inspect

        belongs = await self._find(source) if source else None
        return await inspect(self._ports, url, source=belongs, typed=True)

    async def subscribe(
        self, /, *, name: str | None = None, sources: Sequence[str] = (), **settings: str
    ) -> Sink:
        """Be told when one answer changes: one of `path`, `heading`, `symbol`, `question`, and `url` or
        `file`, as `rowen subscribe` takes them.
        """
        from rowen.service.subscriptions import subscribing

        for one in sources:
            await self._find(one)
        return await subscribing.subscribe(self._ports, name=name, sources=sources, settings=settings)

    async def subscriptions(self) -> list[Sink]:
        from rowen.service.subscriptions import subscribing

        return await subscribing.subscriptions(self._ports.store)

    async def unsubscribe(self, name: str) -> None:
        from rowen.service.subscriptions import subscribing

        await subscribing.unsubscribe(self._ports.store, name)

    async def rollback(self, name: str, *, to_generation: int | None = None, pin: bool = False) -> int:
        """Returns the generation that is visible now; with `pin` the source stays there until `resume`."""
        return await history.rollback(
            self._ports, await self._find(name), to_generation=to_generation, pin=pin, by=PYTHON
        )

    async def approve(self, name: str) -> int:
        """Returns the generation that is visible now."""
        return await history.approve(self._ports, await self._find(name), by=PYTHON)

    async def generations(self, name: str) -> list[GenerationHistory]:
        """What can still be shown, oldest first, each with when, why and by whom it was shown."""
        return await history.generations(self._ports.store, await self._find(name))

    async def pause(self, name: str) -> None:
        """Stop `rowen serve` from syncing a source until `resume`."""
        await pausing.pause(self._ports.store, self._ports.clock, await self._find(name), by=PYTHON)

    async def resume(self, name: str) -> None:
        """Let a source be synced again after a pause, a pin, or an error that stopped it."""
        await pausing.resume(self._ports.store, await self._find(name))

    async def _find(self, name: str) -> Source:
        return await finding.find(self._ports.store, name)

    @property
    def _ports(self) -> Ports:
        if self._opened is None:
            raise UserError("this store is not open", hint="use it inside `with Rowen() as rowen:`")
        return self._opened


def _waited(
    method: Callable[Concatenate[AsyncRowen, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Rowen, P], T]:
    """The method of the same name, with its parameters and its docstring, for callers without a loop."""

    def call(self: Rowen, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(method(self._inner, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


class Rowen:
    """For programs without an event loop: the same calls, each waited for."""

    def __init__(self, db: str | None = None) -> None:
        """`db` is the store, `sqlite:///path`; if omitted, ROWEN_DB or the user's data folder."""
        self._inner = AsyncRowen(db)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        self._run(self._inner.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._run(self._inner.close())
        finally:
            self._runner.close()

    add = _waited(AsyncRowen.add)
    remove = _waited(AsyncRowen.remove)
    sync = _waited(AsyncRowen.sync)
    search = _waited(AsyncRowen.search)
    look_up = _waited(AsyncRowen.look_up)
    status = _waited(AsyncRowen.status)
    diff = _waited(AsyncRowen.diff)
    document_diff = _waited(AsyncRowen.document_diff)
    compare = _waited(AsyncRowen.compare)
    inspect = _waited(AsyncRowen.inspect)
    subscribe = _waited(AsyncRowen.subscribe)
    subscriptions = _waited(AsyncRowen.subscriptions)
    unsubscribe = _waited(AsyncRowen.unsubscribe)
    rollback = _waited(AsyncRowen.rollback)
    approve = _waited(AsyncRowen.approve)
    generations = _waited(AsyncRowen.generations)
    pause = _waited(AsyncRowen.pause)
    resume = _waited(AsyncRowen.resume)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._runner.run(work)
        work.close()
        raise UserError(
            "`Rowen` was called from inside an event loop",
            hint="there, use `async with AsyncRowen() as rowen:` and await its methods",
        )


def _mode(mode: SearchMode | str) -> SearchMode:
    try:
        return SearchMode(mode)
    except ValueError:
        known = ", ".join(f"`{one}`" for one in SearchMode)
        raise UserError(f"mode `{mode}`: expected one of {known}") from None
