"""What a push changed: the named files of a repository at one commit, without asking for its tree.

Pushes are believed as long as each begins where the one before it ended, from the commit that readers see. A
gap, a forced push or a commit the API does not know leads to the comparison of trees, which finds everything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rowen.core.document import Validators
from rowen.core.exchange.git import blob_id, is_within
from rowen.core.run import Mode
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.fetching.client import stop_reason
from rowen.kinds.github.api import GitHubApi, NotThere
from rowen.kinds.github.push_event import route as route_of
from rowen.kinds.github.rules import Address
from rowen.kinds.listing.listing import Fetched, Item, take_in_named
from rowen.kinds.listing.text_files import NO_TEXT, TextFiles
from rowen.ports.store.documents import Listing

COMMIT = "commit"
"""In a source's metadata: readers see everything up to this commit. Known once a push has been followed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What a run over a repository sets out to do."""

    paths: tuple[str, ...] | None = None
    """These files; None for a comparison of everything."""
    commit: str = ""
    """Where the files are read."""
    learnt: Mapping[str, Any] = field(default_factory=dict)
    """What to remember when the run went well."""


async def begin(source: Source, intake: Intake, api: GitHubApi, branch: str) -> Start:
    """One question at most: where the commit or the branch stands. Raises like the API."""
    if intake.only is None or not source.active_generation:
        return Start()
    # After a rollback readers see less than was taken in.
    current = source.active_generation == source.last_generation
    route = route_of(intake.only, source.metadata.get(COMMIT) if current else None)
    try:
        commit = await api.commit(route.commit or branch)
    except NotThere:
        # Rewritten since, or not everywhere yet; if the repository is gone, the tree will say so.
        return Start()
    if route.commit is not None:
        return Start(paths=route.paths, commit=commit, learnt={COMMIT: commit})
    if route.pushed or not current:
        # Asked before the tree, which so is of this commit or a later one.
        return Start(learnt={COMMIT: commit})
    return Start(paths=route.paths, commit=commit)


class NamedFiles:
    def __init__(
        self,
        ports: Ports,
        intake: Intake,
        params: Mapping[str, Any],
        address: Address,
        api: GitHubApi,
        listings: Mapping[str, Listing],
        raw: Callable[[str, str], Awaitable[bytes | None]],
    ) -> None:
        """`raw` reads a file by commit and path elsewhere than at the API, where that can be done."""
        self._ports = ports
        self._intake = intake
        self._params = params
        self._address = address
        self._api = api
        self._raw = raw
        self._commit = ""
        self._known_no_text = listings[NO_TEXT].payload if NO_TEXT in listings else {}
        self._text = TextFiles(ports, intake, params)
        self._text.load(listings)

    async def run(self, start: Start) -> Harvested:
        self._commit = start.commit
        paths = [path for path in start.paths or () if self._is_wanted(path)]
        stopped = await take_in_named(
            self._intake, paths, self._look, concurrency=self._params["concurrency"]
        )
        await self._text.save({*self._known_no_text, *paths})
        return Harvested(
            stop_reason=stop_reason(stopped),
            error=stopped,
            # That nothing is new is an answer; that nothing answered is not.
            mode=None if self._intake.counters.failed else Mode.INCREMENTAL,
            complete=False,
            metadata=start.learnt,
        )

    def _is_wanted(self, path: str) -> bool:
        ignored = self._intake.counters.ignored
        if not is_within(path, self._address.path):
            ignored["out_of_scope"] += 1
            return False
        if not self._params["hidden"] and (path.startswith(".") or "/." in path):
            ignored["hidden"] += 1
            return False
        # Its blob id is not known yet; that of no file is empty.
        return self._text.wants(path, "")

    async def _look(self, path: str) -> tuple[Item, Fetched | None] | None:
        body = await self._raw(self._commit, path)
        if body is not None:
            id_ = blob_id(body, like=self._commit)
            return self._found(path, id_, body if len(body) <= self._ports.fetch.max_body_bytes else None)
        content = await self._api.content(path, self._commit)
        if content is None:
            return None
        if content.why_not is not None:
            self._intake.counters.ignored[content.why_not] += 1
            return None
        if content.size > self._ports.fetch.max_body_bytes:
            return self._found(path, content.id, None)
        body = content.body if content.body is not None else await self._api.blob(content.id)
        return self._found(path, content.id, body)

    def _found(self, path: str, id_: str, body: bytes | None) -> tuple[Item, Fetched | None]:
        item = Item(reference=path, validators=Validators(id_))
        return item, self._text.content(path, id_, body, url=self._address.page_of(path))
