"""What signals say of the pages of one crawl, which of these claims are checked, and what the checks found.

The rules are in `core/freshness/claims.py`. Pages whose turn it is are asked first, so a lie is known before
any page is left out on the word of the same signal: everything else of the run is then asked for, or fetched
whole. The dates that were seen beside a version are remembered as digests, so that a version that was not
shown in the end, or was rolled back, has no date.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from rowen.core.document import NO_VALIDATORS, Draft, Validators
from rowen.core.freshness import claims, lastmod
from rowen.core.freshness.claims import NOTHING, Record, Seen, Signal, Standing
from rowen.core.run import Run
from rowen.engine.intake import Intake
from rowen.kinds.crawl.visits import Visit
from rowen.ports.store.documents import Listing

if TYPE_CHECKING:
    from rowen.ports.store.store import Store

REMEMBERED = "rowen:claims"
"""The remembered listing: digests of dates beside versions, and the references that changed last."""


class PageClaims:
    def __init__(
        self,
        intake: Intake,
        records: Mapping[Signal, Record],
        remembered: Any | None,
        *,
        lastmods: Mapping[str, str],
        lastmods_before: Mapping[str, str],
        previous: Run | None,
        whole: bool,
        done: Container[str] = (),
    ) -> None:
        """`previous` is the run before this one: once a 304 came in one, validators are checked.

        `whole` is False for a run that names pages: it checks nothing and leaves nothing out. `done` are the
        pages that a run which goes on does not ask for again.
        """
        self._intake = intake
        self._records = records
        self._remembered = remembered
        self._lastmods = lastmods
        self._before = lastmods_before
        self._at = intake.run.started_at
        self._seen = {signal: Seen() for signal in Signal}
        # Looked up for every page: the hot path of a refresh.
        standings = {signal: records.get(signal, NOTHING).standing for signal in Signal}
        self._trusted = [signal for signal in Signal if standings[signal] is Standing.TRUSTED]
        self._distrusted = [signal for signal in Signal if standings[signal] is Standing.DISTRUSTED]
        """As they are now: a lie takes effect in the run that meets it."""
        self._done = done
        self._may_use = whole and not intake.unconditional
        self._hot: list[str] = list(remembered["hot"]) if remembered else []
        self._digests: dict[str, bytes] = self._claimed(remembered["lastmods"] if remembered else "")
        """Pages that the sitemap says are unchanged, with the digest that says so."""
        self._confirmed: dict[str, bytes] = {}
        """Pages that answered in this run with a version that their date belongs to from here on."""
        self._answered: set[str] = set()
        self._only_304: set[str] = set()
        """Of the confirmed: those by a 304 alone."""
        self._said_304: dict[str, Signal] = {}
        """Pages that answered 304 and are fetched whole all the same, with what they were asked by."""
        self._hints = 0
        self._bodies: dict[str, None] = {}
        """Pages that are fetched whole after their 304."""
        self._asked: dict[str, None] = {}
        """Pages that are asked for though their date in the sitemap is the same."""
        self._after: dict[Signal, Record] = {}
        if self._may_use and previous is not None and self._is_worth_checking(previous):
            self._choose()

    def _is_worth_checking(self, previous: Run) -> bool:
        """Between two runs that begin in the same moment there is nothing to learn."""
        claimed = self._records or self._digests or previous.counters.get("not_modified")
        return previous.started_at < self._at and bool(claimed)

    def _claimed(self, remembered: str) -> dict[str, bytes]:
        packed, size = b64decode(remembered), lastmod.DIGEST_BYTES
        before = {packed[start : start + size] for start in range(0, len(packed), size)}
        known, found = self._intake.known, {}
        for url, value in self._lastmods.items() if before else ():
            if value and (page := known.get(url)) is not None:
                digest = lastmod.digest(url, value, page.payload_hash)
                if digest in before:
                    found[url] = digest
        return found

    def _choose(self) -> None:
        ahead = {url: page for url, page in self._intake.known.items() if url not in self._done}
        turn = max((record.turns for record in self._records.values()), default=0)
        # What a distrusted validator says is not asked: these pages are fetched whole anyway.
        used = {
            url: signal
            for url, page in ahead.items()
            if (signal := _signal(page.validators)) and signal not in self._distrusted
        }
        number = claims.bodies(
            len(used),
            proven=all(signal in self._trusted for signal in set(used.values())),
            pays=bool(self._digests),
            shared=claims.are_shared([_value(ahead[url].validators) for url in used]),
        )
        hot = [url for url in self._hot if url in used]
        self._bodies = dict.fromkeys([*claims.whose_turn(list(used), number, turn), *hot])
        if Signal.LASTMOD in self._trusted:
            listed = [url for url in self._digests if url in ahead and url not in self._bodies]
            hot = [url for url in self._hot if url in self._digests and url not in self._bodies]
            turns = claims.whose_turn(listed, claims.asked(len(self._digests)), turn)
            self._asked = dict.fromkeys([*turns, *hot])

    # before a page is asked for

    @property
    def sooner(self) -> list[str]:
        """The pages to ask for before all others."""
        return [*self._bodies, *self._asked]

    def may_skip(self, visit: Visit) -> bool:
        """Is it known to be as it was without being asked? The root is asked in every run."""
        return (
            visit.url in self._digests
            and self._may_use
            and visit.depth > 0
            and Signal.LASTMOD in self._trusted
            and visit.url not in self._bodies
            and visit.url not in self._asked
        )

    def skipped(self, visit: Visit) -> None:
        self._seen[Signal.LASTMOD].claims += 1
        self._intake.counters.not_asked += 1

    def usable(self, validators: Validators) -> Validators:
        """What a page may be asked with: nothing of what lied."""
        if not self._distrusted:
            return validators
        etag, last_modified = validators.etag, validators.last_modified
        if etag and Signal.ETAG in self._distrusted:
            # Beside a validator that lied, the other one has to be proven.
            kept = last_modified if Signal.LAST_MODIFIED in self._trusted else None
            return Validators(None, kept)
        if last_modified and Signal.LAST_MODIFIED in self._distrusted:
            return Validators(etag, None)
        return validators

    # what came

    def must_check(self, visit: Visit) -> bool:
        """The server says 304: is the page to be fetched all the same, and compared?"""
        url = visit.url
        if url not in self._bodies and url not in self._asked and not self._says_changed(url):
            return False
        known = visit.known
        signal = _signal(self.usable(known.validators)) if known is not None and known.document_id else None
        if signal is None or not self._may_use:
            return False
        if visit.url not in self._bodies and (visit.url not in self._asked or signal in self._trusted):
            # Another date in the sitemap than before says the opposite: worth a look, now and then.
            if not self._says_changed(visit.url) or self._hints >= claims.MOST_HINTS:
                return False
            self._hints += 1
        self._said_304[visit.url] = signal
        return True

    def changed_meanwhile(self, visit: Visit) -> None:
        """Between the 304 and the body: the 304 was true."""
        del self._said_304[visit.url]

    def not_modified(self, visit: Visit) -> bool:
        """A 304; was it checked, so that the body came all the same?"""
        if visit.url in self._answered:
            return True
        known = visit.known
        signal = _signal(self.usable(known.validators)) if known is not None else None
        if known is None or signal is None:
            return False
        self._answered.add(visit.url)
        self._seen[signal].claims += 1
        trusted, changed = signal in self._trusted, self._says_changed(visit.url)
        if visit.url in self._digests:
            self._seen[Signal.LASTMOD].claims += 1
            if trusted:
                self._check(Signal.LASTMOD, visit.url, held=True)
        elif changed and trusted:
            self._seen[Signal.LASTMOD].alarms += 1
        if trusted or not changed:
            self._confirm(visit.url, known.payload_hash)
            self._only_304.add(visit.url)
        return False

    def same_body(self, visit: Visit, validators: Validators) -> None:
        if visit.known is not None:
            self._compared(visit, validators, changed=False)
            self._confirm(visit.url, visit.known.payload_hash)

    def received(self, visit: Visit, draft: Draft, *, hid_links: bool, outdated: bool) -> None:
        """A page was read; `hid_links` says that it leads to pages which nothing else names.

        With `outdated` it has to be stored anew for what others say of it: then its text alone counts.
        """
        known, payload_hash = visit.known, draft.payload_hash
        if known is not None and known.document_id:
            changed = draft.content_hash != known.content_hash
            changed = changed or (payload_hash != known.payload_hash and not outdated)
            # The same bytes that a newer converter reads otherwise: the site told the truth.
            same_bytes = known.body_hash is not None and draft.body_hash == known.body_hash
            self._compared(visit, draft.validators, changed=(changed or hid_links) and not same_bytes)
            if changed and not same_bytes:
                others = [url for url in self._hot if url != visit.url]
                self._hot = [visit.url, *others][: claims.MOST_HOT]
        self._confirm(visit.url, payload_hash)

    def gone(self, visit: Visit) -> None:
        """It is not there any more, or somewhere else."""
        if visit.known is not None and visit.known.document_id:
            self._compared(visit, NO_VALIDATORS, changed=True)

    def _compared(self, visit: Visit, validators: Validators, *, changed: bool) -> None:
        """What all signals said of a page, beside what it turned out to be."""
        url, known = visit.url, visit.known
        assert known is not None
        self._answered.add(url)
        if url in self._digests:
            self._seen[Signal.LASTMOD].claims += 1
            self._check(Signal.LASTMOD, url, held=not changed)
        elif self._says_changed(url):
            self._says(Signal.LASTMOD, changed=changed)
        before = known.validators
        for signal, was, now in (
            (Signal.ETAG, before.etag, validators.etag),
            (Signal.LAST_MODIFIED, before.last_modified, validators.last_modified),
        ):
            if was is None:
                continue
            if self._said_304.get(url) is signal or now == was:
                self._seen[signal].claims += 1
                self._check(signal, url, held=not changed)
            elif now is not None:
                self._says(signal, changed=changed)

    # the end

    async def save(self, store: Store) -> None:
        """The first record is written by a run that chose what to check, or met a lie."""
        seen = {signal: one for signal, one in self._seen.items() if one != Seen()}
        if self._records or self._bodies or self._asked or any(one.lies for one in seen.values()):
            self._after = {
                signal: claims.after_run(self._records.get(signal, NOTHING), one, self._at)
                for signal, one in seen.items()
            }
        source_id, lease = self._intake.run.source_id, self._intake.lease
        if self._after:
            await store.save_claims(lease, source_id, self._after)
        payload = {"lastmods": self._packed(), "hot": self._hot}
        if payload != (self._remembered or {"lastmods": "", "hot": []}):
            listing = Listing(url=REMEMBERED, validators=NO_VALIDATORS, payload=payload)
            await store.save_listing(lease, source_id, listing)

    @property
    def hint(self) -> str | None:
        return claims.hint(self._records, {**self._records, **self._after}, self._at)

    def _packed(self) -> str:
        kept = {url: digest for url, digest in self._digests.items() if url not in self._answered}
        confirmed = self._confirmed
        if self._seen[Signal.ETAG].lies or self._seen[Signal.LAST_MODIFIED].lies:
            confirmed = {url: digest for url, digest in confirmed.items() if url not in self._only_304}
        return b64encode(b"".join(sorted({*kept.values(), *confirmed.values()}))).decode()

    # inside

    def _says_changed(self, url: str) -> bool:
        """Does the sitemap name another date than in the run before?"""
        before, now = self._before.get(url), self._lastmods.get(url)
        return bool(before and now and before != now)

    def _says(self, signal: Signal, *, changed: bool) -> None:
        if changed:
            self._seen[signal].told += 1
        else:
            self._seen[signal].alarms += 1

    def _check(self, signal: Signal, url: str, *, held: bool) -> None:
        self._seen[signal].check(url, held=held)
        if not held and signal not in self._distrusted:
            self._trusted = [one for one in self._trusted if one is not signal]
            self._distrusted.append(signal)
        self._intake.counters.claims_checked += 1
        self._intake.counters.claims_broken += not held

    def _confirm(self, url: str, payload_hash: bytes) -> None:
        value = self._lastmods.get(url)
        if value and lastmod.is_settled(value, self._at):
            self._confirmed[url] = lastmod.digest(url, value, payload_hash)


def _signal(validators: Validators) -> Signal | None:
    """Whose claim a 304 is: where both are sent, the ETag decides (RFC 9110, 13.1.3)."""
    if validators.etag:
        return Signal.ETAG
    return Signal.LAST_MODIFIED if validators.last_modified else None


def _value(validators: Validators) -> str:
    return validators.etag or validators.last_modified or ""
