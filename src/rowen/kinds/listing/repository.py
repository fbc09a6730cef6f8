"""A git repository in one run: its tree, which is remembered, and its files, fetched when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack

from rowen.core.document import Validators
from rowen.core.exchange.git import File, Folder, gather
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.ports.repositories import Head, Repository
from rowen.ports.store.documents import Listing


class RepositoryReader:
    """`look` asks where its branch stands. For what has changed, the repository is opened until `stack` ends.

    `tree` is the name of the remembered listing, whose validator is the commit.
    """

    def __init__(
        self, ports: Ports, intake: Intake, address: str, stack: AsyncExitStack, *, tree: str
    ) -> None:
        self._ports = ports
        self._intake = intake
        self._address = address
        self._stack = stack
        self._tree = tree
        self._head: Head
        self._opened: Repository | None = None

    async def look(self, branch: str | None) -> None:
        self._head = await self._ports.repositories.head(self._address, branch)

    async def folder(self, remembered: Listing | None, *, within: str = "") -> Folder:
        commit = self._head.commit
        if remembered and remembered.validators.etag == commit and not self._intake.unconditional:
            return Folder.from_payload(remembered.payload)
        folder = gather(await (await self._repository()).entries(), within=within)
        listing = Listing(url=self._tree, validators=Validators(commit), payload=folder.as_payload())
        if listing != remembered:
            await self._ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)
        return folder

    async def bring(self, files: Sequence[File]) -> None:
        """Fetch these files in one exchange."""
        repository = await self._repository()
        self._intake.counters.requests += await repository.bring([file.id for file in files])

    async def read(self, file: File) -> bytes | None:
        body = await (await self._repository()).read(file.id, max_bytes=self._ports.fetch.max_body_bytes)
        self._intake.counters.reads += 1
        self._intake.counters.bytes_received += len(body or b"")
        return body

    async def _repository(self) -> Repository:
        if self._opened is None:
            opening = self._ports.repositories.open(self._address, self._head)
            self._opened = await self._stack.enter_async_context(opening)
            self._intake.counters.requests += self._opened.fetched
        return self._opened
