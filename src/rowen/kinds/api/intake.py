"""Taking in the items of an API, and finding out which are gone.

An item that can be asked for by itself is asked for when it is new or says another time of change, and not
otherwise. One that comes whole in the list is compared by what it says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.core import hashing
from rowen.core.document import Draft, Known, Validators
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RowenError, TransientError, Vanished
from rowen.fetching.client import STOPS
from rowen.kinds.api import items as rest_items
from rowen.kinds.api import rules as rest
from rowen.kinds.api import text as rest_text
from rowen.kinds.api.datasets import CONTENT_TYPE, Broken, each
from rowen.kinds.api.items import Listed, Reading
from rowen.kinds.api.portal import Asker
from rowen.kinds.api.rules import Api
from rowen.kinds.api.walk import ACCEPT, parsed

TAKEN_AT_ONCE = 500
HTML = "text/html; charset=utf-8"
GONE = (404, 410)
REFUSED = (400, 405, 406, 409, 422, 451)
"""What an API says of one item that it will not show, not of us."""


class Taking:
    def __init__(
        self, ports: Ports, intake: Intake, asker: Asker, api: Api, home: str, params: Mapping[str, Any]
    ) -> None:
        self._ports = ports
        self._intake = intake
        self._asker = asker
        self._api = api
        self._home = home
        self._params = params
        self._leftovers: Mapping[str, Known] = {}
        self.failures: dict[str, datetime | None] = {}
        """What failed, and when it last changed where that is known."""
        self.watched: Collection[str] = ()
        """References of which it matters whether they were met."""
        self.met: set[str] = set()
        """Of these, the ones that were asked for."""

    @property
    def failed(self) -> int:
        return len(self.failures)

    async def take(self, items: Sequence[Listed | Broken]) -> None:
        for start in range(0, len(items), TAKEN_AT_ONCE):
            await self._take(items[start : start + TAKEN_AT_ONCE])

    async def _take(self, items: Sequence[Listed | Broken]) -> None:
        intake = self._intake
        waiting: list[Listed] = []
        references = [one.id for one in items if isinstance(one, Listed)]
        self._meet(references)
        await intake.look_up(references)
        if self._api.detail:
            self._leftovers = await self._ports.store.leftovers(intake.run.source_id, references)
        for one in items:
            if isinstance(one, Broken):
                self._broken(one)
                continue
            validator = self._validator(one)
            known = intake.known.get(one.id)
            left = self._leftovers.get(one.id) if known is None else None
            if validator and known is not None and known.validators.etag == validator:
                intake.not_modified(known)
            elif validator and left is not None and left.validators.etag == validator:
                await intake.revived(left)
            else:
                waiting.append(one)
        await each(waiting, self._one, self._params["concurrency"])

    def _broken(self, one: Broken) -> None:
        if self._api.windowed:
            # It could never be stored; as a failure it would keep the window from ever moving on.
            self._intake.counters.ignored["without_id"] += 1
        else:
            self.failures[one.reference] = None
            self._intake.failed(one.reference, one.error)

    def _meet(self, references: Sequence[str]) -> None:
        self.met.update(one for one in references if one in self.watched)

    def _validator(self, one: Listed) -> str:
        """What says that nothing changed, without asking; empty when only the text can say."""
        if not self._api.detail or self._intake.unconditional:
            return ""
        return self._stored_validator(one)

    def _stored_validator(self, one: Listed) -> str:
        if one.updated or not self._api.detail:
            return one.updated
        try:
            return hashing.of_mapping({"item": one.item}).hex()
        except RecursionError:
            return ""

    async def _one(self, one: Listed) -> None:
        try:
            item = await self._with_detail(one)
            await self._receive(one, rest_items.read(self._api, one, item, home=self._home))
        except STOPS:
            raise
        except Vanished as exc:
            # It went between the list and the question.
            if one.id in self._intake.known:
                self._intake.gone(one.id, exc.reason)
            else:
                self._intake.counters.ignored[exc.reason] += 1
        except (TransientError, PermanentError) as exc:
            if self._api.windowed and exc.facts.get("status") in REFUSED:
                # It will not be had tomorrow either, and must not keep the window from moving on.
                self._intake.counters.ignored["refused"] += 1
            else:
                self._fail(one.id, exc, at=one.at)

    def _fail(self, reference: str, exc: RowenError, *, at: datetime | None = None) -> None:
        if exc.facts.get("status") == 401:
            # Nobody else's answer will be another.
            raise exc
        self.failures[reference] = at
        self._intake.failed(reference, exc)

    async def _with_detail(self, one: Listed) -> Any:
        if not self._api.detail:
            return one.item
        detail = await self._ask_for(one.id)
        return rest_items.with_detail(one.item, detail)

    async def _ask_for(self, reference: str) -> Any:
        url = rest.detail_url(self._api, self._home, reference)
        response = await self._asker.ask(url, accept=ACCEPT)
        if response.status in GONE:
            raise Vanished(f"`{url}`: {response.status}, it is gone", url=url)
        return parsed(response, url, self._params)

    async def _receive(self, one: Listed, reading: Reading) -> None:
        intake = self._intake
        known = intake.known.get(one.id)
        # Without a detail to save, the time of change decides nothing and is not worth a write.
        validators = Validators(self._stored_validator(one) or None) if self._api.detail else Validators()
        digest = reading.digest
        if known is not None and known.body_hash == digest and not intake.unconditional:
            intake.same_body(known, validators)
            return
        await intake.fetched(
            Draft(
                reference=one.id,
                url=reading.url,
                title=reading.title,
                text=await self._text(reading),
                body_hash=digest,
                validators=validators,
                content_type=CONTENT_TYPE,
                metadata=reading.metadata,
            )
        )

    async def _text(self, reading: Reading) -> str:
        if not reading.text.is_html:
            self._intake.counters.parses += 1
            return reading.text.text
        converted = await self._intake.convert(
            reading.text.text.encode("utf-8", "replace"), content_type=HTML, url=reading.url
        )
        return rest_text.under_its_title(converted.text)

    # what is gone

    async def absent(self, listed: set[str]) -> list[str]:
        """What readers see and the list does not name."""
        absent: list[str] = []
        after = ""
        while references := await self._ports.store.visible_references(
            self._intake.run.source_id, after=after, limit=1000
        ):
            after = references[-1]
            absent += [one for one in references if one not in listed]
        return absent

    async def recheck(self, references: Sequence[str]) -> None:
        """Ask for each of these whether it is still there."""
        self._meet(references)
        await self.delete(await self._gone_among(references), Vanished.reason)

    async def _gone_among(self, references: Sequence[str]) -> list[str]:
        gone: list[str] = []

        async def one(reference: str) -> None:
            try:
                await self._ask_for(reference)
            except STOPS:
                raise
            except Vanished:
                gone.append(reference)
            except (TransientError, PermanentError) as exc:
                self._fail(reference, exc)

        await each(references, one, self._params["concurrency"])
        return sorted(gone)

    async def delete(self, references: Sequence[str], reason: str) -> None:
        if references:
            await self._intake.look_up(references)
        for reference in references:
            self._intake.gone(reference, reason)
