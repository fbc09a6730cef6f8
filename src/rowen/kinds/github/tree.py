"""Listing the files of a repository at GitHub with as few requests as the API allows.

One recursive tree lists everything, and with its ETag an unchanged repository costs one 304. A repository too
large for one answer is listed folder by folder; a folder whose id is the known one is not asked about.
"""

from __future__ import annotations

from collections import Counter

from rowen.core.document import Validators
from rowen.core.exchange.git import File, Folder, gather
from rowen.engine.intake import Intake
from rowen.errors import BodyTooLarge, PermanentError, TransientError, Unfetchable
from rowen.fetching.client import STOPS
from rowen.kinds.github.api import GitHubApi, NotThere
from rowen.kinds.github.rules import DEFAULT_BRANCH, Address, parse_tree
from rowen.ports.store.documents import Documents, Listing
from rowen.records import dataclass

ROOT = "rowen:tree"
"""The remembered listing of the root; those of folders have their path behind it."""


@dataclass(frozen=True, slots=True)
class _Tree:
    folder: Folder
    validators: Validators
    split: bool
    """Too large to be listed with everything below it."""


class TreeListing:
    def __init__(
        self, store: Documents, intake: Intake, api: GitHubApi, address: Address, listings: dict[str, Listing]
    ) -> None:
        self._store = store
        self._intake = intake
        self._api = api
        self._address = address
        self._remembered = {} if intake.unconditional else listings
        self.complete = True
        """Every folder was listed; without that, nothing is gone."""
        self.branch = address.branch or DEFAULT_BRANCH

    async def files(self) -> list[File]:
        """Every file within the address. Raises when the root cannot be had, or the client must stop."""
        folder = await self._root()
        files = list(folder.files)
        passed_over = Counter(folder.passed_over)
        waiting = list(folder.folders)
        while waiting:
            path, id_ = waiting.pop()
            try:
                folder = await self._folder(path, id_)
            except STOPS:
                raise
            except (TransientError, PermanentError) as exc:
                self.complete = False
                self._intake.failed(path, exc)
                continue
            files += folder.files
            passed_over.update(folder.passed_over)
            waiting += folder.folders
        if not files and self.complete and self._address.path:
            raise Unfetchable(
                f"path `{self._address.path}` of `{self._address.repository}`: nothing there any more",
                hint="what was indexed before stays visible; add the new path as another source",
            )
        self._intake.counters.ignored.update(passed_over)
        return files

    async def _root(self) -> Folder:
        remembered = self._remembered.get(ROOT)
        if self._address.branch is None and remembered is not None:
            self.branch = remembered.payload["branch"]
        try:
            return await self._root_of(self.branch, remembered)
        except NotThere:
            default = (await self._api.facts()).default_branch
            if self._address.branch is not None:
                raise Unfetchable(
                    f"branch `{self.branch}` of `{self._address.repository}`: no such branch, tag or commit",
                    hint="what was indexed before stays visible; add the new branch as another source",
                ) from None
            if default == self.branch:
                raise
            self.branch = default
            return await self._root_of(default, remembered)

    async def _root_of(self, branch: str, remembered: Listing | None) -> Folder:
        split = bool(remembered and remembered.payload["split"])
        if remembered is not None and remembered.payload["branch"] == branch:
            answer = await self._ask(branch, below="", split=split, validators=remembered.validators)
        else:
            answer = await self._ask(branch, below="", split=split)
        if answer is None:
            assert remembered is not None
            return Folder.from_payload(remembered.payload)
        payload = {"branch": branch, "split": answer.split, **answer.folder.as_payload()}
        await self._remember(ROOT, answer.validators, payload)
        return answer.folder

    async def _folder(self, path: str, id_: str) -> Folder:
        key = f"{ROOT}/{path}"
        remembered = self._remembered.get(key)
        if remembered is not None and remembered.validators.etag == id_:
            return Folder.from_payload(remembered.payload)
        split = bool(remembered and remembered.payload["split"])
        answer = await self._ask(id_, below=path, split=split)
        assert answer is not None
        await self._remember(key, Validators(id_), {"split": answer.split, **answer.folder.as_payload()})
        return answer.folder

    async def _ask(
        self, name: str, *, below: str, split: bool, validators: Validators | None = None
    ) -> _Tree | None:
        """A tree with everything below it or, where that is too much, alone. None: it is the known one."""
        try:
            response = await self._api.tree(name, recursive=not split, validators=validators or Validators())
        except BodyTooLarge:
            if split:
                raise
            return await self._ask(name, below=below, split=True)
        if response.status == 304:
            return None
        tree = parse_tree(response.body)
        if tree.truncated and split:
            raise Unfetchable(f"folder `{below or '/'}`: has more entries than the API lists")
        if tree.truncated:
            return await self._ask(name, below=below, split=True)
        folder = gather(tree.entries, below=below, within=self._address.path, whole=not split)
        return _Tree(folder, response.validators, split)

    async def _remember(self, url: str, validators: Validators, payload: dict[str, object]) -> None:
        listing = Listing(url=url, validators=validators, payload=payload)
        if self._remembered.get(url) != listing:
            await self._store.save_listing(self._intake.lease, self._intake.run.source_id, listing)
