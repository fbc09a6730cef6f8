"""Repositories by git itself: where a branch stands, what is in its tree, and the bytes of a file.

Addresses are as `core.git.parse_address` spells them. A repository that does not answer is an error, never an
empty tree. Raises `ConfigError` when there is no git.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rowen.core.exchange.git import Entry
from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class Head:
    ref: str
    """What to ask the repository for: a full ref, `HEAD`, or a commit."""
    commit: str


class Repository(Protocol):
    """One commit of a repository, at hand for a run."""

    fetched: bool
    """The repository had to be asked for it; what it held before was older."""

    async def entries(self) -> list[Entry]:
        """The whole tree, folders left out."""
        ...

    async def bring(self, ids: Sequence[str]) -> int:
        """Get these blobs together; answers how many exchanges that took.

        Reading them works without it, at one exchange each.
        """
        ...

    async def read(self, id_: str, *, max_bytes: int) -> bytes | None:
        """The bytes of a blob; None when there are more than that. Raises `Unfetchable`."""
        ...


class Repositories(Protocol):
    def public(self, *, may_read: Callable[[str], bool], allow_private: bool) -> Repositories:
        """The same for addresses that did not come from the operator.

        By https from public addresses, with none of the operator's settings or credentials, or from a folder
        that `may_read` allows; the rest raises `AddressRefused`. With `allow_private`, addresses may be
        private, and asked by http.
        """
        ...

    async def head(self, address: str, branch: str | None) -> Head:
        """Where a branch or tag stands now; None for the default branch. One exchange.

        Raises `Unfetchable`, or a `TransientError`.
        """
        ...

    def open(self, address: str, head: Head) -> AbstractAsyncContextManager[Repository]:
        """Raises like `head`."""
        ...
