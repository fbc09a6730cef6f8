"""Who may: tokens and their scopes. Pure: making and hashing a token is here, chance and storage are not.

A token is shown once, when it is made; what is stored is its hash.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from rowen.core import hashing
from rowen.records import dataclass

PREFIX = "rowen_"
"""So that a token found in a log or a repository is recognised for what it is."""
SECRET_BYTES = 32


class Scope(StrEnum):
    READ = "read"
    SYNC = "sync"
    """Also read; start runs, refresh sources."""
    ADMIN = "admin"
    """Everything: add and remove sources, roll back, approve, tokens."""

    def allows(self, wanted: Scope) -> bool:
        order = (Scope.READ, Scope.SYNC, Scope.ADMIN)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    id: int
    name: str
    scope: Scope
    created_at: datetime
    last_used_at: datetime | None


def digest(token: str) -> bytes:
    """Tokens are long and random: a fast hash is enough, there is nothing to guess."""
    return hashing.of_bytes(token.encode())
