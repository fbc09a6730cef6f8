"""The wiki of a repository: a git repository of its own, and the second part of the source.

Its pages are references that begin with `wiki:`. What happens to one part says nothing about the other: a
wiki that does not answer keeps its pages, and fails as one item. That there is none is remembered for a week.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any

from rowen.core.document import Validators
from rowen.core.exchange import git
from rowen.core.exchange.git import File
from rowen.core.web.scope import is_hidden
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, PermanentError, TransientError
from rowen.kinds.github.rules import WIKI, Address
from rowen.kinds.listing import trees
from rowen.kinds.listing.repository import RepositoryReader
from rowen.ports.store.documents import Listing

TREE = "rowen:wiki"
"""The remembered listing of its tree."""
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
            async with AsyncExitStack() as stack:
                repository = RepositoryReader(self._ports, self._intake, self._place, stack, tree=TREE)
                await self._take_in(repository, listings, only)
        except ConfigError as exc:
            self._intake.counters.ignored["wiki_without_git"] += 1
            return f"its wiki is left out: {exc.message}"
        except PermanentError as exc:
            if known:
                self._intake.failed(WIKI, exc)
                return "`wiki=false` forgets the pages of a wiki that is gone"
            absent = {ABSENT: self._ports.clock.now().isoformat()}
            listing = Listing(url=TREE, validators=Validators(), payload=absent)
            await self._ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)
        except TransientError as exc:
            self._intake.failed(WIKI, exc)
        return None

    def _is_absent(self, remembered: Listing | None) -> bool:
        since = remembered.payload.get(ABSENT) if remembered else None
        if since is None or self._intake.unconditional:
            return False
        return self._ports.clock.now() - datetime.fromisoformat(since) < LOOK_AGAIN

    async def _take_in(
        self,
        repository: RepositoryReader,
        listings: Mapping[str, Listing],
        only: Collection[str] | None,
    ) -> None:
        self._intake.counters.requests += 1
        await repository.look(None)
        files = [
            File(WIKI + file.path, file.id)
            for file in (await repository.folder(listings.get(TREE))).files
            if _is_page(file.path)
        ]
        stopped = await trees.take_in_files(
            self._ports,
            self._intake,
            self._params,
            files,
            listings=listings,
            read=repository.read,
            page_of=self._address.page_of,
            announce=repository.bring,
            is_part=lambda reference: reference.startswith(WIKI),
            no_text=NO_TEXT,
            remembered_includes=INCLUDES,
            only=only,
        )
        if stopped is not None:
            raise stopped


def _is_page(path: str) -> bool:
    name = path.rpartition("/")[2].rpartition(".")[0]
    return bool(name) and name.lower() not in FURNITURE and not is_hidden(path)
