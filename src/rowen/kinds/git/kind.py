"""The `git` kind: the files of any repository, by the `git` command and without an API.

Where the branch stands is one question, and all there is to ask when it stands where it stood. Otherwise the
new tree is fetched without files, and the files whose blob ids are new in one more exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote

from rowen.core.exchange import git
from rowen.core.exchange.git import File, gather
from rowen.core.params import how, what
from rowen.core.run import Mode
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared, Sample
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, TransientError, Unfetchable
from rowen.fetching.client import stop_reason
from rowen.kinds import sampling
from rowen.kinds.listing import trees
from rowen.kinds.listing.repository import RepositoryReader
from rowen.ports.folders import Folders


def _branch(text: str) -> str:
    if text.startswith("-") or any(c.isspace() or c in "~^:?*[\\" or not c.isprintable() for c in text):
        raise ValueError("expected the name of a branch or tag, or a commit")
    return text


PARAMS = (
    *trees.PARAMS,
    what("branch", "", "A branch, a tag or a commit; empty for the default branch", _branch),
    what("path", "", "Only this folder or file", lambda text: text.strip("/")),
    how(
        "link",
        "",
        "Where a person reads a file; empty for `https://HOST/REPOSITORY/blob/{branch}/{path}`",
        str,
    ),
)

BARE = ("HEAD", "objects", "refs")
"""What lies in a repository without a working folder: its own files are no documents."""
TREE = "rowen:git"
"""The remembered listing of its tree."""


def claims(ports: Ports, location: str) -> bool:
    if all(ports.folders.locate(f"{location.rstrip('/')}/{part}") for part in BARE):
        return True
    return git.parse_address(location) is not None and (
        location.startswith(("git+", "git:", "ssh:"))
        or location.rstrip("/").endswith(".git")
        or "@" in location.partition(":")[0]
    )


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    address = _address(ports.folders, location)
    if not check:
        return Prepared(kind="git", location=address)
    try:
        head = await ports.repositories.head(address, settings["branch"] or None)
    except (TransientError, PermanentError) as exc:
        raise BadLocation(exc.message, hint=exc.hint, location=address) from exc
    findings = [f"a git repository, `{settings['branch'] or 'HEAD'}` at {head.commit[:12]}: kind `git`"]
    if address.startswith("git+file:"):
        findings.append("what is committed there is indexed, not what lies in the working folder")
    return Prepared(kind="git", location=address, findings=tuple(findings))


def _address(folders: Folders, location: str) -> str:
    local = folders.locate(location)
    address = git.parse_address(f"file://{quote(local)}" if local is not None else location)
    if address is None:
        shown = urls.without_credentials(location)
        raise BadLocation(
            f"location `{shown}`: not the address of a git repository",
            hint="write `git+https://host/path.git` without a password, `git@host:path.git`, or a folder",
            location=shown,
        )
    return address


async def sample(ports: Ports, source: Source, params: Mapping[str, Any]) -> Sample:
    """The tree is fetched without its files, then a few of them."""
    head = await ports.repositories.head(source.location, params["branch"] or None)
    async with ports.repositories.open(source.location, head) as repository:
        requests = (not git.is_commit(params["branch"])) + repository.fetched
        files = gather(await repository.entries(), within=params["path"]).files
        chosen = trees.chosen_files(ports, source, params, files)
        few = sampling.evenly(chosen, sampling.ITEMS)
        requests += await repository.bring([file.id for file in few])

        async def read(file: File) -> bytes | None:
            return await repository.read(file.id, max_bytes=ports.fetch.max_body_bytes)

        return await trees.sample(ports, chosen, few, read, requests=lambda: requests)


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    async with AsyncExitStack() as stack:
        return await _Reading(ports, source, params, intake, stack).run()


class _Reading:
    """One run over one repository."""

    def __init__(
        self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake, stack: AsyncExitStack
    ) -> None:
        self._ports = ports
        self._address = source.location
        self._repository = RepositoryReader(ports, intake, source.location, stack, tree=TREE)
        self._shown = bool(source.active_generation)
        self._params = params
        self._branch: str | None = params["branch"] or None
        self._intake = intake

    async def run(self) -> Harvested:
        listings = await self._ports.store.listings(self._intake.run.source_id)
        try:
            self._intake.counters.requests += not git.is_commit(self._branch or "")
            await self._repository.look(self._branch)
            folder = await self._repository.folder(listings.get(TREE), within=self._params["path"])
            if not folder.files and self._params["path"]:
                raise Unfetchable(
                    f"path `{self._params['path']}` of `{self._address}`: nothing there any more",
                    hint="what was indexed before stays visible",
                )
        except (TransientError, PermanentError) as exc:
            return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
        named = self._intake.only if self._intake.within_s is not None and self._shown else None
        if named is None:
            self._intake.counters.ignored.update(folder.passed_over)
        try:
            stopped = await trees.take_in_files(
                self._ports,
                self._intake,
                self._params,
                folder.files,
                listings=listings,
                read=self._repository.read,
                page_of=self._page_of,
                announce=self._repository.bring,
                only=named,
            )
        except TransientError as exc:
            stopped = exc
        if named is None:
            return Harvested(stop_reason=stop_reason(stopped), error=stopped)
        # That nothing is new is an answer; that nothing answered is not.
        mode = None if self._intake.counters.failed else Mode.INCREMENTAL
        return Harvested(stop_reason=stop_reason(stopped), error=stopped, mode=mode, complete=False)

    def _page_of(self, path: str) -> str:
        return git.page_of(self._address, self._branch, path, link=self._params["link"])


def covers(source: Source, settings: Mapping[str, Any]) -> Callable[[str], bool]:
    chosen, within = trees.covers(source, settings), settings["path"]
    return lambda path: chosen(path) and git.is_within(path, within)


KIND = Kind(
    name="git",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    sample=sample,
    covers=covers,
    lists=True,
    asks_named=True,
    harvest=harvest,
)
