"""Job boards for tests: sources whose documents are offers, put through the store as a run puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from rowen.core.document import Draft, Outcome
from rowen.core.run import RunItem
from rowen.core.source import NewSource, Source
from rowen.ports.store.store import Store
from tests.contract.helpers import a_draft, an_end, ingest
from tests.support.begun import begun

DAY = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def days(number: float) -> datetime:
    return DAY + timedelta(days=number)


def an_offer(
    number: int | str,
    company: str | None = "Acme S.L.",
    *,
    title: str = "Cook",
    place: str = "Madrid",
    text: str | None = None,
    company_id: str | None = None,
    website: str | None = None,
    provider: str = "infojobs",
    posted_at: datetime | None = None,
) -> Draft:
    """An offer as a job source stores it. Without a text of its own it is like no other."""
    employer = {"id": company_id, "name": company, "website": website}
    offer: dict[str, Any] = {
        "provider": provider,
        "id": str(number),
        "company": {key: value for key, value in employer.items() if value is not None},
        "place": place,
        "posted_at": posted_at.isoformat() if posted_at else None,
    }
    url = f"https://www.{provider}.example/offers/{number}"
    # Digits do not make offers different, letters do.
    alone = "".join(chr(ord("a") + int(c)) if c.isdigit() else c for c in f"{provider} {number}")
    draft = a_draft(url, f"# {title}\n\n{text or alone}\n")
    tidy = {key: value for key, value in offer.items() if value not in (None, {})}
    return replace(draft, title=title, metadata={"offer": tidy, "place": place})


async def a_board(store: Store, name: str = "jobs", kind: str = "infojobs") -> Source:
    new = NewSource(kind=kind, name=name, location=f"https://api.{name}.example/", key=f"{kind}:{name}:")
    return await store.add_source(new, now=DAY)


async def show(
    store: Store,
    source: Source,
    drafts: Sequence[Draft] = (),
    *,
    gone: Sequence[Draft] = (),
    at: datetime = DAY,
) -> None:
    """One whole run: these documents stored, those gone, the generation shown at a time."""
    lease = await store.acquire_lease(f"source:{source.id}", "me", now=at, ttl_s=60)
    assert lease is not None
    run = await begun(store, lease, source.id, full=False, now=at)
    known = await store.known(source.id)
    if drafts:
        await ingest(store, lease, run, await store.stage(lease, run, drafts, now=at))
    if gone:
        await store.retire(lease, run, [known[draft.reference].reference_id for draft in gone])
    items = [RunItem(draft.reference, _outcome(draft, known), "content") for draft in drafts]
    items += [RunItem(draft.reference, Outcome.DELETED, "absent") for draft in gone]
    await store.finish_run(lease, run, an_end(run, items=items), now=at)
    await store.release_lease(lease)


def _outcome(draft: Draft, known: Mapping[str, object]) -> Outcome:
    return Outcome.UPDATED if draft.reference in known else Outcome.CREATED
