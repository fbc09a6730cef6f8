"""Which internet addresses anybody may be sent to: the common rule, as the fetcher knows it."""

from __future__ import annotations

from rowen.core.safety.addresses import Address, is_public, parse_address

__all__ = ["Address", "is_public", "parse_address"]
