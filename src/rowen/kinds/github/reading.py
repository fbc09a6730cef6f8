"""One run over one repository at GitHub: by its tree, by what pushes named, or for some files alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from rowen.core.document import Validators
from rowen.core.exchange.git import File, blob_id, is_within
from rowen.core.run import Mode
from rowen.core.source import Source
from rowen.core.web.scope import is_hidden
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError
from rowen.fetching.client import Client, stop_reason
from rowen.kinds.github import push as github_push
from rowen.kinds.github import wiki as wikis
from rowen.kinds.github.api import GitHubApi
from rowen.kinds.github.push import Start
from rowen.kinds.github.rules import WIKI, Address
from rowen.kinds.github.tree import TreeListing
from rowen.kinds.github.wiki import Wiki
from rowen.kinds.listing import trees
from rowen.kinds.listing.includes.includes import Includes
from rowen.kinds.listing.listing import Fetched, Item, take_in_named
from rowen.kinds.listing.text_files import NO_TEXT, TextFiles
from rowen.ports.fetcher import Request
from rowen.ports.store.documents import Listing


class Reading:
    def __init__(
        self,
        ports: Ports,
        address: Address,
        params: Mapping[str, Any],
        intake: Intake,
        api: GitHubApi,
        raw: Client | None,
        raw_url: str,
    ) -> None:
        self._ports = ports
        self._address = address
        self._params = params
        self._intake = intake
        self._api = api
        self._raw = raw
        self._raw_url = raw_url
        self._branch = ""

    async def run(self, source: Source) -> Harvested:
        listings = await self._ports.store.listings(self._intake.run.source_id)
        listing = TreeListing(self._ports.store, self._intake, self._api, self._address, listings)
        named = self._intake.only if self._intake.within_s is not None and source.active_generation else None
        try:
            if named is not None:
                return await self._read_exactly(named, listing, listings)
            start = await github_push.begin(source, self._intake, self._api, listing.branch)
            if start.paths is not None:
                if any(path.startswith(WIKI) for path in start.paths):
                    await self._wiki().take_in(listings)
                return await self._read_named(start, listings)
            files = await listing.files()
        except (TransientError, PermanentError) as exc:
            return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
        stopped = await self._take_in(files, listing, listings)
        if stopped is not None:
            return Harvested(stop_reason=stop_reason(stopped), error=stopped)
        hint = await self._wiki().take_in(listings)
        return Harvested(stop_reason=stop_reason(None), metadata=start.learnt, hint=hint)

    async def _take_in(
        self,
        files: Sequence[File],
        listing: TreeListing,
        listings: Mapping[str, Listing],
        *,
        only: Collection[str] | None = None,
    ) -> TransientError | None:
        """All files of the branch, or these alone; answers what stopped it."""
        self._branch = listing.branch
        return await trees.take_in_files(
            self._ports,
            self._intake,
            self._params,
            files,
            listings=listings,
            read=self._read,
            page_of=self._address.page_of,
            complete=listing.complete,
            is_part=lambda reference: not reference.startswith(WIKI),
            only=only,
        )

    async def _read_exactly(
        self, named: tuple[str, ...], listing: TreeListing, listings: Mapping[str, Listing]
    ) -> Harvested:
        """These files alone: the tree is asked for conditionally, once for all of them."""
        stopped = None
        if any(not path.startswith(WIKI) for path in named):
            stopped = await self._take_in(await listing.files(), listing, listings, only=named)
        hint = None
        if stopped is None and any(path.startswith(WIKI) for path in named):
            hint = await self._wiki().take_in(listings, only=named)
        return Harvested(
            stop_reason=stop_reason(stopped),
            error=stopped,
            mode=None if self._intake.counters.failed else Mode.INCREMENTAL,
            complete=False,
            hint=hint,
        )

    def _wiki(self) -> Wiki:
        place = wikis.address_of(self._address, self._params)
        return Wiki(self._ports, self._intake, self._params, self._address, place)

    async def _read_named(self, start: Start, listings: Mapping[str, Listing]) -> Harvested:
        """Take in the files that pushes or a caller named, at one commit and without the tree."""
        text = TextFiles(self._ports, self._intake, self._params)
        text.load(listings)
        known_no_text = listings[NO_TEXT].payload if NO_TEXT in listings else {}
        # Where files stand in the tree is not known here: what is included is asked for at the commit.
        includes = Includes(
            self._ports, self._intake, listings, {}, partial(self._read_included, start.commit)
        )
        pushed = dict.fromkeys(start.paths or ())
        named = [*pushed, *(path for path in includes.includers_of(pushed) if path not in pushed)]
        paths = [path for path in named if self._is_wanted(path, text)]
        look = partial(self._look, text, includes, start.commit)
        stopped = await take_in_named(self._intake, paths, look, concurrency=self._params["concurrency"])
        await text.save({*known_no_text, *paths})
        await includes.save({*includes.includers, *paths})
        return Harvested(
            stop_reason=stop_reason(stopped),
            error=stopped,
            # That nothing is new is an answer; that nothing answered is not.
            mode=None if self._intake.counters.failed else Mode.INCREMENTAL,
            complete=False,
            metadata=start.learnt,
        )

    def _is_wanted(self, path: str, text: TextFiles) -> bool:
        if path.startswith(WIKI):
            return False
        ignored = self._intake.counters.ignored
        if not is_within(path, self._address.path):
            ignored["out_of_scope"] += 1
            return False
        if not self._params["hidden"] and is_hidden(path):
            ignored["hidden"] += 1
            return False
        # Its blob id is not known yet; that of no file is empty.
        return text.wants(path, "")

    async def _look(
        self, text: TextFiles, includes: Includes, commit: str, path: str
    ) -> tuple[Item, Fetched | None] | None:
        found = await self._read_at(commit, path)
        if found is None:
            return None
        id_, body = found
        fetched = text.content(path, id_, body, url=self._address.page_of(path))
        fetched = await includes.followed(path, id_, fetched)
        return Item(reference=path, validators=Validators(id_)), fetched

    async def _read_included(self, commit: str, path: str) -> tuple[str, bytes] | None:
        if not is_within(path, self._address.path):
            return None
        found = await self._read_at(commit, path)
        return None if found is None or found[1] is None else (found[0], found[1])

    async def _read_at(self, commit: str, path: str) -> tuple[str, bytes | None] | None:
        """The id and the bytes of a file at a commit; None for nothing there, no bytes for too many."""
        body = await self._read_raw(commit, path)
        if body is not None:
            id_, size = blob_id(body, like=commit), len(body)
        else:
            content = await self._api.content(path, commit)
            if content is None:
                return None
            if content.why_not is not None:
                self._intake.counters.ignored[content.why_not] += 1
                return None
            id_, size, body = content.id, content.size, content.body
        if size > self._ports.fetch.max_body_bytes:
            return id_, None
        return id_, body if body is not None else await self._api.blob(id_)

    async def _read(self, file: File) -> bytes:
        body = await self._read_raw(self._branch, file.path)
        if body is not None and blob_id(body, like=file.id) == file.id:
            return body
        return await self._api.blob(file.id)

    async def _read_raw(self, name: str, path: str) -> bytes | None:
        """A file by branch or commit; None when it cannot be had from the host for raw files."""
        if self._raw is None:
            return None
        place = f"{self._raw_url}/{quote(f'{self._address.repository}/{name}/{path}')}"
        response = await self._raw.ask(Request(place))
        return response.body if response.status == 200 else None
