"""Follow the includes of a source's files inside the source, and know who included what.

An includer is stored with the text of what it includes, so its validator covers those files too: when one of
them changes, appears or goes, the includer is read again. What was included is remembered as a listing, so
that an unchanged source is compared without opening a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from rowen.core.document import Validators
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import PermanentError
from rowen.kinds.listing.includes import rules
from rowen.kinds.listing.includes.rules import Directive, Form
from rowen.kinds.listing.listing import Fetched
from rowen.ports.store.documents import Listing

REMEMBERED = "rowen:includes"
"""The remembered listing: each includer with the paths it includes, directly or through others."""
MAX_DEPTH = 8
MAX_INCLUDES = 200
"""Of one file, those of the files it includes among them; a file that is included twice counts twice."""
CYCLE, MISSING, OUTSIDE, TOO_MANY = (
    "include_in_a_circle",
    "include_missing",
    "include_outside",
    "include_too_deep",
)
_ABSENT = "-"

Read = Callable[[str], Awaitable[tuple[str | None, bytes] | None]]
"""The tag and the bytes of a file of the source; None for no such file. A tag of None may not be trusted."""


class _Found:
    """What one file includes, directly or through others."""

    def __init__(self, max_bytes: int) -> None:
        self.paths: dict[str, None] = {}
        """Also those that are missing: one that appears is a change."""
        self.times = 0
        self.bytes_left = max_bytes

    def has_room_for(self, text: str) -> bool:
        self.bytes_left -= len(text)
        return self.bytes_left >= 0


class Includes:
    def __init__(
        self,
        ports: Ports,
        intake: Intake,
        listings: Mapping[str, Listing],
        tags: Mapping[str, str | None],
        read: Read,
        *,
        remembered: str = REMEMBERED,
    ) -> None:
        """`tags` are the validators of all files of the source, as far as they are known."""
        self._ports = ports
        self._intake = intake
        self._listing = remembered
        listing = listings.get(remembered)
        self._before: dict[str, list[str]] = dict(listing.payload) if listing else {}
        self._includes = dict(self._before)
        self._tags = dict(tags)
        self._read = read
        self._roots = [
            path.rpartition("/")[0]
            for path in tags
            if path.endswith("conf.py") and path.rpartition("/")[2] == "conf.py"
        ]

    def validators_of(self, path: str, tag: str | None) -> Validators:
        """Those of a file together with the files that it includes."""
        included = self._includes.get(path)
        if not included or tag is None:
            return Validators(tag)
        tags = [self._tags.get(one, _ABSENT) for one in included]
        if None in tags:
            return Validators()
        said = "\n".join(f"{one} {its}" for one, its in zip(included, tags, strict=True))
        return Validators(f"{tag}+{hashlib.sha256(said.encode()).hexdigest()[:16]}")

    @property
    def includers(self) -> Collection[str]:
        """All files that are known to include others."""
        return self._includes.keys()

    def includers_of(self, paths: Collection[str]) -> list[str]:
        """The files that include one of these."""
        wanted = set(paths)
        return sorted(path for path, included in self._includes.items() if not wanted.isdisjoint(included))

    async def followed(self, path: str, tag: str | None, fetched: Fetched | None) -> Fetched | None:
        """What came of a file, with what it includes and the validators of all of it."""
        if fetched is None:
            return None
        body = await self._expanded(path, fetched.body)
        return replace(fetched, body=body, validators=self.validators_of(path, tag))

    async def _expanded(self, path: str, body: bytes) -> bytes:
        """The bytes of a file with what it includes put in place; as they are, where it includes nothing."""
        form, text = rules.form_of(path), _decoded(body)
        found = _Found(self._ports.fetch.max_body_bytes)
        if form is not None and text is not None and rules.may_include(text, form):
            lines = await self._lines(path, text.splitlines(), form, (path,), found)
            if found.paths:
                body = "\n".join(lines).encode() + b"\n"
        if found.paths:
            self._includes[path] = list(found.paths)
        else:
            self._includes.pop(path, None)
        return body

    async def save(self, present: Collection[str]) -> None:
        kept = {path: included for path, included in self._includes.items() if path in present}
        if kept != self._before:
            listing = Listing(url=self._listing, validators=Validators(), payload=kept)
            await self._ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)

    async def _lines(
        self, path: str, lines: Sequence[str], form: Form, above: tuple[str, ...], found: _Found
    ) -> list[str]:
        """`above` are the files that are being included."""
        out: list[str] = []
        at = 0
        for one in rules.directives(lines, form):
            put = await self._put(path, one, form, above, found)
            if put is not None:
                out += [*lines[at : one.start], *put]
                at = one.end
        return [*out, *lines[at:]]

    async def _put(
        self, path: str, one: Directive, form: Form, above: tuple[str, ...], found: _Found
    ) -> list[str] | None:
        ignored = self._intake.counters.ignored
        candidates = rules.candidates(one.path, path, form, self._roots)
        if not candidates:
            ignored[OUTSIDE] += 1
            return None
        target = await self._there(candidates, above[0])
        if target in above:
            ignored[CYCLE] += 1
            return None
        if len(above) > MAX_DEPTH or found.times >= MAX_INCLUDES:
            ignored[TOO_MANY] += 1
            return None
        found.times += 1
        found.paths[target] = None
        text = await self._text(target)
        if text is None:
            ignored[MISSING] += 1
            return None
        if not found.has_room_for(text):
            ignored[TOO_MANY] += 1
            return None
        lines = rules.chosen(one, text, form)
        if not one.literal:
            lines = await self._lines(target, lines, form, (*above, target), found)
        return rules.placed(one, lines, form)

    async def _there(self, candidates: Sequence[str], includer: str) -> str:
        """The one that there is; the first one where none is known."""
        before = self._before.get(includer, ())
        for known in (self._tags, before):
            if found := next((one for one in candidates if one in known), None):
                return found
        if len(candidates) > 1 and not self._tags:
            # Only the files that a push named are known: the others have to be asked for.
            for one in candidates:
                if await self._text(one) is not None:
                    return one
        return candidates[0]

    async def _text(self, path: str) -> str | None:
        try:
            read = await self._read(path)
        except PermanentError:
            return None
        if read is None:
            return None
        self._tags[path], body = read
        return _decoded(body)


def _decoded(body: bytes) -> str | None:
    """Text of another encoding is left to the converter, as it is."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
