"""Web hooks that come in: is a delivery signed by who may, and what does it say has changed?

Pure: bytes and headers in, decisions out. GitHub signs the body; our own scheme, the one our sinks send with,
signs the time as well, so that an old delivery cannot be sent again. Comparing takes the same time whatever
is wrong.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rowen.core import hashing
from rowen.core.exchange import delivery, git
from rowen.core.sync_request import MAX_ONLY
from rowen.errors import UserError

MAX_COMMITS = 20
"""Of a push with more, everything is compared: past 2,048 GitHub leaves some out."""
MAX_SKEW_S = 300.0
"""How far the time of a signed delivery may be from ours."""
SAME_BODY_S = 10.0
"""Deliveries without a name and a time are the same when the same body comes within this time."""
MAX_NAME_CHARS = 200
MAX_REFERENCE_CHARS = 2_000

_HALF = re.compile(r"[\ud800-\udfff]")
_BRANCH = "refs/heads/"
_NOTHING = re.compile(r"0{40}|0{64}")
_MARK = re.compile(r"rowen:push:([0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request to a web hook."""

    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def event(self) -> str | None:
        """What GitHub says this is about; None when it is not GitHub's."""
        return self.headers.get("x-github-event")

    def is_signed(self, secret: str | None, *, now: datetime) -> bool:
        """By GitHub's scheme or by ours. Without a secret nothing is, and finding that out takes as long."""
        key = secret or ""
        given = self.headers.get("x-rowen-signature")
        if given is None:
            given = self.headers.get("x-hub-signature-256", "")
            expected, fresh = hub_signature(key, self.body), True
        else:
            expected = delivery.signature(key, self._timestamp, self.body)
            fresh = self._is_fresh(now)
        # As bytes: text with other letters than ASCII would be refused with an exception.
        same = hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
        return same and fresh and bool(secret)

    def name(self, *, now: datetime) -> str:
        """What makes this delivery the same one when it comes again."""
        body = hashing.of_bytes(self.body).hex()
        if "x-rowen-signature" in self.headers:
            # What was signed, and no header beside it: a copy under another name is still the same delivery.
            return f"{self._timestamp}.{body}"
        given = self.headers.get("x-github-delivery")
        if given:
            return given[:MAX_NAME_CHARS]
        return f"{int(now.timestamp() // SAME_BODY_S)}.{body}"

    def json(self) -> Any:
        """Raises `UserError`."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as exc:
            raise UserError("web hook: the body is not JSON") from exc

    @property
    def _timestamp(self) -> str:
        return self.headers.get("x-rowen-timestamp", "")

    def _is_fresh(self, now: datetime) -> bool:
        text = self._timestamp
        if not (text.isascii() and text.isdigit() and len(text) <= 12):
            return False
        return abs(now.timestamp() - int(text)) <= MAX_SKEW_S


def hub_signature(secret: str, body: bytes) -> str:
    """What GitHub sends as `X-Hub-Signature-256`."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Push:
    """What a push to a repository says."""

    repositories: frozenset[str]
    """Every address of the repository, as `repository_key` spells it."""
    branch: str | None
    """None for a tag."""
    default_branch: str
    deleted: bool
    """The branch is not there any more."""
    before: str
    after: str
    paths: tuple[str, ...] | None
    """What was added, modified or removed; None when only a comparison can tell."""

    def is_of(self, branch: str | None) -> bool:
        """Is this the mirrored branch? None stands for the default branch."""
        return self.branch is not None and self.branch == (branch or self.default_branch)

    def references(self, within: str = "") -> tuple[str, ...] | None:
        """What a wish names: the paths that belong to a source, and the way from commit to commit.

        Empty when nothing of the source changed.
        """
        if self.paths is None:
            return None
        own = tuple(path for path in self.paths if git.is_within(path, within))
        return (f"rowen:push:{self.before}..{self.after}", *own) if own else ()


def read_push(payload: Any) -> Push:
    """Raises `UserError` when it is not what GitHub sends."""
    try:
        ref, repository = payload["ref"], payload["repository"]
        before, after = payload["before"], payload["after"]
        if not all(isinstance(text, str) and git.is_commit(text) for text in (before, after)):
            raise TypeError(before)
        named = (repository.get(name) for name in ("html_url", "clone_url", "ssh_url", "git_url"))
        return Push(
            repositories=frozenset(key for key in map(repository_key, named) if key),
            branch=ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else None,
            default_branch=str(repository.get("default_branch") or ""),
            deleted=bool(payload.get("deleted")),
            before=before,
            after=after,
            paths=_paths(payload),
        )
    except (KeyError, TypeError, AttributeError) as exc:
        raise UserError("web hook: the body is not a push event as GitHub sends them") from exc


def _paths(payload: Mapping[str, Any]) -> tuple[str, ...] | None:
    commits: Sequence[Mapping[str, Any]] = payload.get("commits") or ()
    new = _NOTHING.fullmatch(payload["before"]) is not None
    # Who does not say that a push was not forced may be another forge, which leaves that out.
    if payload.get("forced") is not False or new or not 0 < len(commits) <= MAX_COMMITS:
        return None
    paths: dict[str, None] = {}
    for commit in commits:
        for kind in ("added", "modified", "removed"):
            listed = commit.get(kind)
            if not isinstance(listed, list):
                return None
            paths.update((str(path), None) for path in listed)
    if any(map(_HALF.search, paths)):
        return None
    # Room for the word on where the push leads.
    return tuple(paths) if len(paths) < MAX_ONLY else None


def repository_key(address: Any) -> str | None:
    """`host/path` of a repository, whatever way its address is written."""
    parsed = git.parse_address(address) if isinstance(address, str) else None
    if parsed is None:
        return None
    place = parsed.partition("://")[2].rpartition("@")[2].lower()
    return place.removesuffix(".git").removeprefix("www.")


@dataclass(frozen=True, slots=True)
class Route:
    """What a wish asks of a repository."""

    paths: tuple[str, ...]
    pushed: bool
    """Pushes brought it about, not somebody who just names paths."""
    commit: str | None
    """Where the pushes lead from the commit we have; None when there is a gap, or there were none."""


def route(only: Iterable[str], have: str | None) -> Route:
    """Pushes may have arrived in any order, and some may not have arrived: then the paths are not all."""
    steps: dict[str, str] = {}
    paths: list[str] = []
    for one in only:
        mark = _MARK.fullmatch(one)
        if mark:
            steps[mark[1]] = mark[2]
        else:
            paths.append(one)
    pushed = bool(steps)
    at = have
    while at in steps:
        at = steps.pop(at)
    return Route(tuple(paths), pushed, at if pushed and not steps else None)


def named_references(payload: Any) -> tuple[str, ...] | None:
    """What the body `{"urls": [...]}` of a delivery of our own scheme names; None for everything."""
    if payload is None or payload == {}:
        return None
    named = payload.get("urls") if isinstance(payload, dict) else None
    if not isinstance(named, list) or len(payload) > 1:
        raise UserError('web hook: expected a body such as `{"urls": ["https://..."]}`, or none')
    for one in named:
        if not isinstance(one, str) or not 0 < len(one) <= MAX_REFERENCE_CHARS:
            raise UserError(f"web hook: `urls` holds something that is no text of 1 to {MAX_REFERENCE_CHARS}")
        if _HALF.search(one):
            raise UserError("web hook: `urls` holds half a character, which no store takes")
    distinct = tuple(dict.fromkeys(named))
    return distinct if len(distinct) <= MAX_ONLY else None
