"""Addresses of repositories at GitHub and its Enterprise servers, and what their API answers.

Reads addresses, bodies and headers; asking is for others. Facts about the API are those of its documentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from rowen.core.exchange.git import Entry
from rowen.core.web import urls
from rowen.core.web.retry_after import retry_after_s
from rowen.errors import Unparseable
from rowen.records import dataclass

SITE = "https://github.com"
API = "https://api.github.com"
RAW = "https://raw.githubusercontent.com"
WIKI = "wiki:"
"""How the references of a wiki's pages begin; those of files are paths."""
DEFAULT_BRANCH = "HEAD"
"""The name under which git, the API and the site all know the default branch."""
SECONDARY_WAIT_S = 60.0
"""What the documentation asks for when a limit was hit and the answer does not say for how long."""

_HOSTS = frozenset(("github.com", "www.github.com"))
_NAME = re.compile(r"[A-Za-z0-9._-]+")
# First words of addresses that are pages of the site itself and never the name of an owner.
# fmt: off
_NOT_OWNERS = frozenset((
    "about", "apps", "collections", "contact", "customer-stories", "enterprise", "events", "explore",
    "features", "issues", "join", "login", "marketplace", "new", "notifications", "orgs",
    "organizations", "pricing", "pulls", "search", "security", "sessions", "settings", "signup", "site",
    "sponsors", "stars", "team", "topics", "trending", "users",
))
# fmt: on
_SCP_LIKE = re.compile(r"(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):(?!//)(.+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A repository, or a part of it."""

    site: str
    owner: str
    name: str
    branch: str | None = None
    """As it was typed; also a tag or a commit. None means the default branch."""
    path: str = ""

    @property
    def repository(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def is_public_site(self) -> bool:
        return self.site == SITE

    @property
    def location(self) -> str:
        """One spelling for the address; the slashes of a branch are escaped, so that it can be read back."""
        if self.branch is None:
            return f"{self.site}/{self.repository}"
        tree = f"{self.site}/{self.repository}/tree/{quote(self.branch, safe='')}"
        return f"{tree}/{quote(self.path)}" if self.path else tree

    @property
    def wiki_repository(self) -> str:
        return f"{self.site}/{self.repository}.wiki.git"

    def page_of(self, path: str) -> str:
        """Where a person reads a file, or a page of the wiki: those have names without folders."""
        if path.startswith(WIKI):
            name = path.removeprefix(WIKI).rpartition("/")[2].rpartition(".")[0]
            return f"{self.site}/{self.repository}/wiki/{quote(name, safe='')}"
        branch = quote(self.branch or DEFAULT_BRANCH)
        return f"{self.site}/{self.repository}/blob/{branch}/{quote(path)}"

    def readings(self) -> Iterator[Address]:
        """Every way to read the address: `tree/feature/x/docs` may be the branch `feature` or `feature/x`."""
        yield self
        if self.branch is None:
            return
        branch, rest = self.branch, self.path
        while rest:
            first, _, rest = rest.partition("/")
            branch = f"{branch}/{first}"
            yield replace(self, branch=branch, path=rest)


def parse_address(location: str) -> Address | None:
    """None when it is not the address of a repository, or of something else than its files."""
    location = location.strip()
    if location.startswith("ssh://"):
        host, _, path = location.removeprefix("ssh://").rpartition("@")[2].partition("/")
        location = f"https://{host.partition(':')[0]}/{path}"
    elif "://" not in location and (scp := _SCP_LIKE.fullmatch(location)):
        location = f"https://{scp[1]}/{scp[2]}"
    elif location.split("/")[0] in _HOSTS:
        location = f"https://{location}"
    href = urls.normalise(location)
    if href is None or urls.without_credentials(location) != location:
        return None
    origin = urls.origin_of(href)
    parts = [unquote(part) for part in href[len(origin) + 1 :].partition("?")[0].split("/")]
    while parts and not parts[-1]:
        parts.pop()
    if len(parts) < 2 or not all(_NAME.fullmatch(part) for part in parts[:2]):
        return None
    owner, name, *rest = parts
    name = name.removesuffix(".git")
    site = SITE if urls.host_of(href) in _HOSTS else origin
    if not name or (site == SITE and owner.lower() in _NOT_OWNERS):
        return None
    address = Address(site=site, owner=owner, name=name)
    if not rest:
        return address
    if rest[0] not in ("tree", "blob") or len(rest) < 2:
        return None
    return replace(address, branch=rest[1], path="/".join(rest[2:]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What the API says about a repository."""

    repository: str
    default_branch: str
    description: str
    has_wiki: bool
    archived: bool


def parse_facts(body: bytes) -> Facts:
    answer = _object(body)
    try:
        return Facts(
            repository=str(answer["full_name"]),
            default_branch=str(answer["default_branch"]),
            description=str(answer.get("description") or ""),
            has_wiki=bool(answer.get("has_wiki")),
            archived=bool(answer.get("archived")),
        )
    except KeyError as exc:
        raise Unparseable(f"the API's answer about the repository has no {exc}") from exc


@dataclass(frozen=True, slots=True)
class Tree:
    entries: list[Entry]
    truncated: bool
    """There is more than the API puts in one answer."""


def parse_tree(body: bytes) -> Tree:
    answer = _object(body)
    try:
        entries = [
            Entry(str(one["path"]), str(one["mode"]), str(one["sha"]), one.get("size"))
            for one in answer["tree"]
        ]
    except (KeyError, TypeError, AttributeError) as exc:
        raise Unparseable("the API's answer is not a git tree") from exc
    return Tree(entries, bool(answer.get("truncated")))


def limited_s(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> float | None:
    """For how long an answer asks us to stay away, None when it does not.

    The hourly limit answers 403 or 429 with nothing left until the reset time; the limits against haste
    answer the same with `retry-after`, or with nothing but a sentence.
    """
    if status not in (403, 429):
        return None
    wait = retry_after_s(headers, now)
    if wait is not None:
        return wait
    if headers.get("x-ratelimit-remaining", "").strip() == "0":
        reset = headers.get("x-ratelimit-reset", "").strip()
        if reset.isascii() and reset.isdigit() and len(reset) <= 12:
            # A clock that is a little ahead must not make it a matter of asking at once again.
            return max(1.0, int(reset) - now.timestamp())
        return SECONDARY_WAIT_S
    return SECONDARY_WAIT_S if status == 429 or b"secondary rate limit" in body else None


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError as exc:
        raise Unparseable("the API's answer is not JSON") from exc
    if not isinstance(answer, dict):
        raise Unparseable("the API's answer is not a JSON object")
    return answer
