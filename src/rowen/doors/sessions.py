"""Sessions of people who signed in to the page with a token.

A browser keeps a random id in a cookie; the store keeps its hash beside the hash of the token. A session is
as good as its token: when the token is removed, the next request of the session is refused. Sessions survive
a restart and are known to every process of the store.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from rowen.core.safety.access import digest
from rowen.ports.clock import Clock
from rowen.ports.store.notes import Notes

COOKIE = "rowen_session"
LIFE = timedelta(days=30)
MAX_ID = 100
_NOTE = "session:"


def new_id() -> str:
    return secrets.token_urlsafe(32)


def form_key(session_id: str) -> str:
    """What every form of a session carries: without the id it cannot be made, nor the id from it."""
    return hmac.new(session_id.encode(), b"forms", hashlib.sha256).hexdigest()


class Sessions:
    def __init__(self, notes: Notes, clock: Clock) -> None:
        self._notes = notes
        self._clock = clock

    async def begin(self, token: str) -> str:
        """The id of a new session for the holder of this token; sessions that have ended are forgotten."""
        now = self._clock.now()
        for name, note in (await self._notes.notes_like(_NOTE)).items():
            if datetime.fromisoformat(note["until"]) <= now:
                await self._notes.save_note(name, None)
        made = new_id()
        until = (now + LIFE).isoformat()
        await self._notes.save_note(_name(made), {"token": digest(token).hex(), "until": until})
        return made

    async def token_digest(self, session_id: str) -> bytes | None:
        """The hash of the token it was begun with; None when there is no such session, or it has ended."""
        if not 0 < len(session_id) <= MAX_ID:
            return None
        note = await self._notes.note(_name(session_id))
        if note is None or datetime.fromisoformat(note["until"]) <= self._clock.now():
            return None
        return bytes.fromhex(note["token"])

    async def end(self, session_id: str) -> None:
        await self._notes.save_note(_name(session_id), None)


def _name(session_id: str) -> str:
    return _NOTE + digest(session_id).hex()
