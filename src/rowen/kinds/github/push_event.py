"""A push event as GitHub sends it, and the way from commit to commit that several of them describe.

Reads payloads and marks only; `push.py` says which files a run asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rowen.core.exchange import git
from rowen.core.sync_request import MAX_ONLY
from rowen.errors import UserError
from rowen.records import dataclass

MAX_COMMITS = 20
"""Of a push with more, everything is compared: past 2,048 GitHub leaves some out."""

_HALF = re.compile(r"[\ud800-\udfff]")
_BRANCH = "refs/heads/"
_NOTHING = re.compile(r"0{40}|0{64}")
_MARK = re.compile(r"rowen:push:([0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})")


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
    """What was added, modified or removed; None when only a comparison shows it."""

    def is_of(self, branch: str | None) -> bool:
        """Is this the mirrored branch? None stands for the default branch."""
        return self.branch is not None and self.branch == (branch or self.default_branch)

    def references(self, within: str = "") -> tuple[str, ...] | None:
        """What a sync request names: the paths that belong to a source, and the way from commit to commit.

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
    # Room for the mark that says where the push leads.
    return tuple(paths) if len(paths) < MAX_ONLY else None


def repository_key(address: Any) -> str | None:
    """`host/path` of a repository, for every way to write its address."""
    parsed = git.parse_address(address) if isinstance(address, str) else None
    if parsed is None:
        return None
    place = parsed.partition("://")[2].rpartition("@")[2].lower()
    return place.removesuffix(".git").removeprefix("www.")


@dataclass(frozen=True, slots=True)
class Route:
    """What a sync request asks of a repository."""

    paths: tuple[str, ...]
    pushed: bool
    """Pushes named the paths, not a caller alone."""
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
