"""Repositories through a folder of bare clones: one commit deep and, where the server can, without files.

A clone is a cache: it may be deleted at any time. Files are brought when they are asked for, all in one
exchange.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from rowen.adapters.git.command import Git, end, failure
from rowen.adapters.git.public import PublicWay
from rowen.core.exchange.git import Entry, is_commit, parse_ls_remote, parse_ls_tree
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable
from rowen.ports.repositories import Head

_UNABLE = re.compile(r"shallow|filter|dumb http", re.IGNORECASE)
REMOTE = "origin"
PLAIN = "rowen.plain"
"""Set in clones of servers that can only give everything."""
BROUGHT_AT_ONCE = 10_000
READ_CHUNK_BYTES = 1 << 20


class ClonedRepositories:
    """Clones in a folder; `git_for` an address is asked anew for each exchange."""

    def __init__(self, folder: Path, git_for: Callable[[str], Awaitable[Git]]) -> None:
        self._folder = folder
        self._git_for = git_for

    def public(self, *, may_read: Callable[[str], bool], allow_private: bool) -> ClonedRepositories:
        return self

    async def head(self, address: str, branch: str | None) -> Head:
        """Where a branch or tag stands now."""
        git = await self._git_for(address)
        if branch is not None and is_commit(branch):
            return Head(branch, branch)
        names = ["HEAD"] if branch is None else [f"refs/heads/{branch}", f"refs/tags/{branch}"]
        patterns = [*names, *(f"{name}^{{}}" for name in names[1:])]
        what = f"repository `{address}`"
        output = await git.run(what, "ls-remote", "--quiet", "--", _url(address), *patterns)
        refs = parse_ls_remote(output.decode("utf-8", "replace"))
        for name in names:
            if name in refs:
                return Head(name, refs[name])
        if branch is None:
            raise Unfetchable(f"{what}: it is empty")
        raise Unfetchable(f"{what}: no branch or tag `{branch}`", branch=branch)

    @asynccontextmanager
    async def open(self, address: str, head: Head) -> AsyncIterator[GitRepository]:
        git = await self._git_for(address)
        clone = self._folder / f"{hashlib.sha256(address.encode()).hexdigest()[:24]}.git"
        repository = GitRepository(git, clone, address, head)
        try:
            await repository.prepare()
            yield repository
        finally:
            await repository.close()


class GitRepositories(ClonedRepositories):
    def __init__(
        self, folder: Path, environment: Mapping[str, str], *, program: str = "git", timeout_s: float = 600.0
    ) -> None:
        """`folder` keeps the clones; `environment` is what git is started with."""
        super().__init__(folder, self._operators)
        self._environment = environment
        self._program = program
        self._timeout_s = timeout_s
        self._git = Git(environment, program=program, timeout_s=timeout_s)

    def public(self, *, may_read: Callable[[str], bool], allow_private: bool) -> ClonedRepositories:
        way = PublicWay(
            self._environment,
            program=self._program,
            timeout_s=self._timeout_s,
            may_read=may_read,
            allow_private=allow_private,
        )
        # Clones of their own: sources of the API must not see what the operator's credentials fetched.
        return ClonedRepositories(self._folder / "public", way.git_for)

    async def _operators(self, address: str) -> Git:
        return self._git


class GitRepository:
    def __init__(self, git: Git, clone: Path, address: str, head: Head) -> None:
        self.fetched = False
        self._git = git
        self._clone = clone
        self._what = f"repository `{address}`"
        self._url = _url(address)
        self._head = head
        self._ref = f"refs/rowen/{hashlib.sha256(head.ref.encode()).hexdigest()[:16]}"
        self._reader: asyncio.subprocess.Process | None = None
        self._reading = asyncio.Lock()

    async def prepare(self) -> None:
        """Have the commit at hand: nothing to do if the clone holds it."""
        if await self._holds_commit():
            return
        if await self._setting(f"remote.{REMOTE}.url") != self._url:
            await self._create()
        self.fetched = True
        if await self._setting(PLAIN):
            await self._fetch()
            return
        try:
            await self._fetch("--depth=1", "--filter=blob:none")
        except (TransientError, PermanentError) as exc:
            if not _UNABLE.search(exc.message):
                raise
            # Old servers can do neither. The clone is made anew, for this one believes that what is missing
            # can be fetched when it is needed.
            await self._create()
            await self._run("config", PLAIN, "true")
            await self._fetch()

    async def entries(self) -> list[Entry]:
        # Without sizes: git would have to fetch every file to tell them.
        return parse_ls_tree(await self._run("ls-tree", "-r", "-z", "--full-tree", self._ref))

    async def bring(self, ids: Sequence[str]) -> int:
        if await self._setting(PLAIN):
            return 0
        for start in range(0, len(ids), BROUGHT_AT_ONCE):
            wanted = "".join(f"{id_}\n" for id_ in ids[start : start + BROUGHT_AT_ONCE]).encode()
            await self._run(
                # There is nothing to negotiate: the ids are all that is wanted.
                *("-c", "fetch.negotiationAlgorithm=noop"),
                *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
                *("--filter=blob:none", "--stdin", REMOTE),
                feed=wanted,
            )
        return -(-len(ids) // BROUGHT_AT_ONCE)

    async def read(self, id_: str, *, max_bytes: int) -> bytes | None:
        async with self._reading:
            if self._reader is None:
                self._reader = await self._git.start(f"--git-dir={self._clone}", "cat-file", "--batch")
            reader = self._reader
            assert reader.stdin is not None
            assert reader.stdout is not None
            try:
                reader.stdin.write(f"{id_}\n".encode())
                await reader.stdin.drain()
                header = (await reader.stdout.readline()).split()
                if len(header) == 3:
                    return await _body(reader.stdout, int(header[2]), max_bytes)
            except (OSError, asyncio.IncompleteReadError):
                header = []
            except asyncio.CancelledError:
                # Half an answer is still in the pipe; the next reader must not take it for its own.
                await self.close()
                raise
            if header:
                raise Unfetchable(f"{self._what}: no blob `{id_}`", id=id_)
            raise await self._broken()

    async def close(self) -> None:
        if self._reader is not None:
            reader, self._reader = self._reader, None
            await end(reader)

    async def _broken(self) -> RowenError:
        reader, self._reader = self._reader, None
        assert reader is not None
        _, err = await reader.communicate()
        return failure(self._what, err)

    async def _holds_commit(self) -> bool:
        if not self._clone.is_dir():
            return False
        try:
            held = await self._run("rev-parse", "--verify", "--quiet", f"{self._ref}^{{commit}}")
        except (TransientError, PermanentError):
            return False
        return held.decode().strip() == self._head.commit

    async def _create(self) -> None:
        from shutil import rmtree

        await asyncio.to_thread(rmtree, self._clone, ignore_errors=True)
        self._clone.parent.mkdir(parents=True, exist_ok=True)
        await self._git.run(self._what, "init", "--quiet", "--bare", "--template=", "--", str(self._clone))
        await self._run("config", f"remote.{REMOTE}.url", self._url)

    async def _setting(self, name: str) -> str:
        """A setting of the clone; empty when it is not set, or the clone is not sound."""
        try:
            return (await self._run("config", name)).decode().strip()
        except (TransientError, PermanentError):
            return ""

    async def _fetch(self, *options: str) -> None:
        await self._run(
            *("fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
            *options,
            *("--", REMOTE, f"+{self._head.ref}:{self._ref}"),
        )

    async def _run(self, *arguments: str, feed: bytes = b"") -> bytes:
        return await self._git.run(self._what, f"--git-dir={self._clone}", *arguments, feed=feed)


async def _body(stream: asyncio.StreamReader, size: int, max_bytes: int) -> bytes | None:
    if size <= max_bytes:
        body = await stream.readexactly(size)
        await stream.readexactly(1)
        return body
    left = size + 1
    while left:
        left -= len(await stream.readexactly(min(left, READ_CHUNK_BYTES)))
    return None


def _url(address: str) -> str:
    return address.removeprefix("git+")
