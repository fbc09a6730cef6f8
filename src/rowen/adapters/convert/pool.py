"""Conversion in child processes, so that one bad page can neither stall nor end a run.

Children start when the first body comes and only as many as are busy at once. One that takes too long, dies
or is interrupted in the middle of an answer is killed and replaced; its page is `Unparseable`, the others go
on.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence

from rowen.adapters.convert import frames
from rowen.adapters.convert.formats import PluginFormat, kind_of, plugin_names
from rowen.core.document import Converted
from rowen.errors import TransientError, Unparseable

FindPlugin = Callable[[Sequence[str]], PluginFormat | None]
"""The plug-in that reads the first of some content types and endings, if there is one."""

_START_S = 30.0
_END_S = 2.0
_BUFFER_BYTES = 4 * 1024 * 1024


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
        worker = ("-P", "-m", "rowen.adapters.convert.worker", str(memory_mb), str(2 * timeout_s + 5))
        self._command = tuple(command) if command is not None else (sys.executable, *worker)
        self._places = asyncio.Semaphore(workers)
        self._idle: list[Process] = []
        self._ending: set[asyncio.Task[None]] = set()

    def handles(self, content_type: str, url: str) -> bool:
        return kind_of(content_type, url) is not None or self._plugin(content_type, url) is not None

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        async with self._places:
            child = self._idle.pop() if self._idle else await self._start()
            answered = False
            plugin = self._plugin(content_type, url)
            request = frames.request(body, content_type=content_type, url=url, plugin=plugin)
            try:
                async with asyncio.timeout(self._timeout_s):
                    payload = await _exchange(child, request)
                answer = frames.read_answer(payload)
                answered = True
            except TimeoutError as exc:
                message = f"`{url}`: not parsed within {self._timeout_s:g} s"
                raise Unparseable(message, url=url, timeout_s=self._timeout_s) from exc
            except (asyncio.IncompleteReadError, ConnectionError, ValueError) as exc:
                # A child that answers nonsense is as good as dead.
                raise Unparseable(f"`{url}`: the parser died on it", url=url) from exc
            finally:
                # Also on cancellation: half an answer may lie in the pipe of a child that did not finish.
                if answered:
                    self._idle.append(child)
                else:
                    self._end(child)
        if isinstance(answer, frames.Refusal):
            raise Unparseable(answer.message, hint=answer.hint, url=url)
        return answer

    async def close(self) -> None:
        while self._idle:
            self._end(self._idle.pop(), gently=True)
        if self._ending:
            await asyncio.gather(*self._ending)

    def _plugin(self, content_type: str, url: str) -> PluginFormat | None:
        names = plugin_names(content_type, url)
        return self._find_plugin(names) if names else None

    async def _start(self) -> Process:
        try:
            child = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_BUFFER_BYTES
            )
        except OSError as exc:
            raise self._not_started() from exc
        ready = False
        try:
            async with asyncio.timeout(_START_S):
                ready = await _stdout(child).readexactly(len(frames.READY)) == frames.READY
        except (TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            if not ready:
                self._end(child)
        if not ready:
            raise self._not_started()
        return child

    def _not_started(self) -> TransientError:
        # Not the page's fault: it may work when the machine has room again.
        return TransientError(
            "the converter's child process does not start",
            hint="free some memory and try again",
            command=self._command,
        )

    def _end(self, child: Process, *, gently: bool = False) -> None:
        if not gently:
            _kill(child)
        task = asyncio.get_running_loop().create_task(_reap(child))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _exchange(child: Process, request: bytes) -> bytes:
    assert child.stdin is not None
    child.stdin.write(request)
    # The child reads a whole request before it writes, so neither side can wait for the other.
    await child.stdin.drain()
    stdout = _stdout(child)
    prefix = await stdout.readexactly(frames.ANSWER.size)
    return await stdout.readexactly(frames.length_of_answer(prefix))


def _stdout(child: Process) -> asyncio.StreamReader:
    assert child.stdout is not None
    return child.stdout


def _kill(child: Process) -> None:
    # It may have ended by itself, and asyncio may not have noticed yet.
    if child.returncode is None:
        try:
            child.kill()
        except ProcessLookupError:
            return


async def _reap(child: Process) -> None:
    """The end of a child's input is its sign to go; what does not go is killed."""
    assert child.stdin is not None
    child.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await child.wait()
    except TimeoutError:
        _kill(child)
        await child.wait()
