"""Asking GitHub's API about one repository: facts, commits, trees, files and blobs.

Redirects are followed within the API's host only; a token is sent to that host only, which the
fetcher sees to. Which requests are worth making is decided elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import json
from urllib.parse import quote

from rowen.core.document import Validators
from rowen.core.exchange.git import SUBMODULE, SYMLINK, blob_id, is_commit
from rowen.core.web import urls
from rowen.errors import PermanentError, Unfetchable, Unparseable
from rowen.fetching.client import Client
from rowen.fetching.redirects import REDIRECTS, follow
from rowen.kinds.github import rules as github
from rowen.kinds.github.rules import Address
from rowen.ports.fetcher import Request, Response
from rowen.records import dataclass

JSON = "application/vnd.github+json"
RAW_BLOB = "application/vnd.github.raw+json"
COMMIT_ID = "application/vnd.github.sha"
API_VERSION = "2022-11-28"
MAX_REDIRECTS = 3


class NotThere(PermanentError):
    """The API knows no such repository, branch or blob, or does not show it to us."""

    reason = "http_404"


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What stands at one path of a commit."""

    id: str
    size: int = 0
    body: bytes | None = None
    """None for a file too large to come along: its blob has to be asked for."""
    why_not: str | None = None
    """It is no file with text of its own."""


class GitHubApi:
    def __init__(self, client: Client, base: str, address: Address, *, has_token: bool) -> None:
        self._client = client
        self._base = base
        self._address = address
        self._root = f"{base}/repos/{quote(address.owner)}/{quote(address.name)}"
        self.has_token = has_token

    async def facts(self) -> github.Facts:
        return github.parse_facts((await self.get("")).body)

    async def commit(self, name: str) -> str:
        """The id of the commit that a branch, a tag or a commit stands for."""
        answer = await self.get(f"/commits/{quote(name, safe='')}", accept=COMMIT_ID)
        id_ = answer.body.decode("ascii", "replace").strip()
        if not is_commit(id_):
            raise Unparseable(f"`{answer.url}`: the answer is not the id of a commit")
        return id_

    async def content(self, path: str, commit: str) -> Content | None:
        """What stands at a path; None for nothing. That the commit is there has to be known before."""
        try:
            response = await self.get(f"/contents/{quote(path)}?ref={commit}")
        except NotThere:
            return None
        return _content(response)

    async def tree(self, name: str, *, recursive: bool, validators: Validators) -> Response:
        """A tree by the name of a branch or tag, or by its id; 200 or 304."""
        query = "?recursive=1" if recursive else ""
        return await self.get(f"/git/trees/{quote(name, safe='')}{query}", validators=validators)

    async def blob(self, id_: str) -> bytes:
        """The bytes behind an id. They cannot be of another version: the id is their hash."""
        body = (await self.get(f"/git/blobs/{id_}", accept=RAW_BLOB)).body
        if blob_id(body, like=id_) != id_:
            raise Unfetchable(
                f"blob `{id_}` of `{self._address.repository}`: other bytes came than its id says"
            )
        return body

    async def get(self, suffix: str, *, accept: str = JSON, validators: Validators | None = None) -> Response:
        """Raises `NotThere`, `Unfetchable`, or what the client raises."""
        request = Request(
            self._root + suffix,
            validators or Validators(),
            headers={"Accept": accept, "X-GitHub-Api-Version": API_VERSION},
        )
        url, response = await follow(
            self._client.ask, request, may_follow=self._is_ours, at_most=MAX_REDIRECTS
        )
        if response.status in REDIRECTS:
            raise Unfetchable(f"`{url}`: redirects away from the API, which is not followed", url=url)
        if response.status not in (200, 304):
            raise self._refusal(response)
        # A renamed repository answers under another address: later questions go there at once.
        if url.endswith(suffix):
            self._root = url.removesuffix(suffix)
        return response

    def _is_ours(self, at: str, target: str) -> bool:
        return urls.origin_of(target) == urls.origin_of(self._base)

    def _refusal(self, response: Response) -> PermanentError:
        status, url = response.status, response.url
        what = f"repository `{self._address.repository}`"
        hint: str | None = None
        if status in (404, 422):
            hint = (
                "check the spelling; the token may not be allowed to see it"
                if self.has_token
                else "check the spelling; a private repository needs a token in GITHUB_TOKEN"
            )
            return NotThere(f"{what}: {status} from `{url}`", hint=hint, status=status, url=url)
        said = f"{status} from `{url}`"
        if status == 401:
            said, hint = "401, the token is not accepted", "the one in GITHUB_TOKEN is wrong or has expired"
        elif status == 403:
            hint = "the token in GITHUB_TOKEN may lack the permission to read contents"
        elif status == 409:
            said = "409, it is empty"
        elif status == 451:
            said = "451, blocked for legal reasons"
        return Unfetchable(f"{what}: {said}", hint=hint, status=status, url=url)


def _content(response: Response) -> Content:
    try:
        answer = json.loads(response.body)
        if isinstance(answer, list):
            return Content(id="", why_not="folder")
        kind, id_, size = answer["type"], str(answer["sha"]), int(answer.get("size") or 0)
        if kind != "file":
            return Content(id=id_, why_not=SUBMODULE if kind == "submodule" else SYMLINK)
        if answer.get("encoding") != "base64":
            return Content(id=id_, size=size)
        body = base64.b64decode(answer["content"])
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as exc:
        raise Unparseable(f"`{response.url}`: the answer does not say what is there") from exc
    if blob_id(body, like=id_) != id_:
        # The API looks through a link to a file of the same repository, and keeps the name of the link.
        return Content(id=id_, why_not=SYMLINK)
    return Content(id=id_, size=size, body=body)
