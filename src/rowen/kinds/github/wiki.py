"""The wiki of a repository: a git repository of its own, and the second part of the source.

Its pages are references that begin with `wiki:`. What happens to one part says nothing about the other: a
wiki that does not answer keeps its pages, and fails as one item. That there is none is remembered for a week.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any

from rowen.core.document import Validators
from rowen.core.exchange import git
from rowen.core.exchange.git import File, Folder, gather
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, PermanentError, TransientError
from rowen.kinds.github.rules import WIKI, Address
from rowen.kinds.listing import trees
from rowen.ports.repositories import Head, Repository
from rowen.ports.store.documents import Listing

TREE = "rowen:wiki"
"""The remembered listing: the commit is its validator."""
NO_TEXT = "rowen:wiki-no-text"
INCLUDES = "rowen:wiki-includes"
ABSENT = "absent_since"
LOOK_AGAIN = timedelta(days=7)
FURNITURE = frozenset(("_sidebar", "_footer", "_header"))
"""Files that stand around every page."""


def address_of(address: Address, params: Mapping[str, Any]) -> str | None:
    """The wiki's repository; None when the source has no such part."""
    if not params["wiki"] or address.path:
        return None
    if params["wiki_url"]:
        return git.parse_address(params["wiki_url"])
    # An API elsewhere says nothing about where its repositories are.
    return None if params["api_url"] else git.parse_address(address.wiki_repository)


async def finding(ports: Ports, place: str) -> str | None:
    """What to say of the wiki when the repository is added."""
    try:
        await ports.repositories.head(place, None)
    except ConfigError as exc:
        return f"its wiki is left out: {exc.message}"
    except (TransientError, PermanentError):
        return None
    return "its wiki is a part of the source; `--set wiki=false` leaves it out"


class Wiki:
    """One run over a wiki."""

    def __init__(
        self, ports: Ports, intake: Intake, params: Mapping[str, Any], address: Address, place: str | None
    ) -> None:
        self._ports = ports
        self._intake = intake
        self._params = params
        self._address = address
        self._place = place
        self._head: Head
        self._opened: Repository | None = None
        self._stack = AsyncExitStack()

    async def take_in(
        self, listings: Mapping[str, Listing], *, only: Collection[str] | None = None
    ) -> str | None:
        """All of it, or `only` these pages. Returns what a person should know, if there is something."""
        known = [reference for reference in self._intake.known if reference.startswith(WIKI)]
        if self._place is None:
            for reference in known:
                self._intake.gone(reference, "wiki_off")
            return None
        if not known and self._is_absent(listings.get(TREE)):
            return None
        try:
            async with self._stack:
                await self._take_in(listings, only)
        except ConfigError as exc:
            self._intake.counters.ignored["wiki_without_git"] += 1
            return f"its wiki is left out: {exc.message}"
        except PermanentError as exc:
            if known:
                self._intake.failed(WIKI, exc)
                return "`wiki=false` forgets the pages of a wiki that is gone"
            absent = {ABSENT: self._ports.clock.now().isoformat()}
            await self._remember(Listing(url=TREE, validators=Validators(), payload=absent))
        except TransientError as exc:
            self._intake.failed(WIKI, exc)
        return None

    def _is_absent(self, remembered: Listing | None) -> bool:
        since = remembered.payload.get(ABSENT) if remembered else None
        if since is None or self._intake.unconditional:
            return False
        return self._ports.clock.now() - datetime.fromisoformat(since) < LOOK_AGAIN

    async def _take_in(self, listings: Mapping[str, Listing], only: Collection[str] | None) -> None:
        assert self._place is not None
        self._intake.counters.requests += 1
        self._head = await self._ports.repositories.head(self._place, None)
        files = [
            File(WIKI + file.path, file.id)
            for file in (await self._folder(listings.get(TREE))).files
            if _is_page(file.path)
        ]
        stopped = await trees.take_in_files(
            self._ports,
            self._intake,
            self._params,
            files,
            listings=listings,
            read=self._read,
            page_of=self._address.page_of,
            announce=self._bring,
            is_part=lambda reference: reference.startswith(WIKI),
            no_text=NO_TEXT,
            remembered_includes=INCLUDES,
            only=only,
        )
        if stopped is not None:
            raise stopped

    async def _folder(self, remembered: Listing | None) -> Folder:
        commit = self._head.commit
        if remembered and remembered.validators.etag == commit and not self._intake.unconditional:
            return Folder.from_payload(remembered.payload)
        folder = gather(await (await self._repository()).entries())
        listing = Listing(url=TREE, validators=Validators(commit), payload=folder.as_payload())
        if listing != remembered:
            await self._remember(listing)
        return folder

    async def _remember(self, listing: Listing) -> None:
        await self._ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)

    async def _repository(self) -> Repository:
        if self._opened is None:
            assert self._place is not None
            opening = self._ports.repositories.open(self._place, self._head)
            self._opened = await self._stack.enter_async_context(opening)
            self._intake.counters.requests += self._opened.fetched
        return self._opened

    async def _bring(self, files: Sequence[File]) -> None:
        repository = await self._repository()
        self._intake.counters.requests += await repository.bring([file.id for file in files])

    async def _read(self, file: File) -> bytes | None:
        body = await (await self._repository()).read(file.id, max_bytes=self._ports.fetch.max_body_bytes)
        self._intake.counters.reads += 1
        self._intake.counters.bytes_received += len(body or b"")
        return body


def _is_page(path: str) -> bool:
    name = path.rpartition("/")[2].rpartition(".")[0]
    return bool(name) and name.lower() not in FURNITURE and not path.startswith(".") and "/." not in path
