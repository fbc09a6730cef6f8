"""What readers saw at an earlier time is answered as it was answered then, hit for hit."""

from __future__ import annotations

import random
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from rowen.adapters.store.shared.store import SharedStore
from rowen.core.search.hit import Answer, Filters, SearchMode
from rowen.core.source import Source
from rowen.errors import NotFound
from rowen.ports.embedder import Model
from rowen.ports.store.store import Store
from rowen.reading.as_of import resolve
from rowen.reading.search import search
from tests.contract.helpers import MODEL, NOW, a_generation, a_source, reload

pytestmark = pytest.mark.anyio

WORDS = [
    "barley",
    "rye",
    "oats",
    "wheat",
    "spelt",
    "field",
    "harvest",
    "plough",
    "sow",
    "reap",
    "mill",
    "grain",
    "straw",
    "sheaf",
    "barn",
    "horse",
    "cart",
    "scythe",
    "furrow",
    "seed",
    "spring",
    "autumn",
    "rain",
    "drought",
    "yield",
    "crop",
    "fallow",
    "meadow",
    "orchard",
    "fence",
]
QUESTIONS = ("barley", "plough the field in spring", '"sow barley" -horse')


class Reader:
    """Embeds a question by its length, as the pages of these tests are."""

    model: Model = MODEL

    async def embed_query(self, text: str) -> bytes:
        return bytes([len(text) % 100, 3, 2, 1])


def a_page(chance: random.Random, name: str) -> str:
    parts = [f"# {name} {chance.choice(WORDS)}\n\n{_sentence(chance)}"]
    parts += [f"## {chance.choice(WORDS)}\n\n{_sentence(chance)}" for _ in range(chance.randint(0, 3))]
    return "\n\n".join(parts)


def _sentence(chance: random.Random) -> str:
    # Few words are frequent, as in any language: how rare a word is decides much.
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return " ".join(chance.choices(WORDS, weights, k=chance.randint(6, 60)))


async def asked(store: Store, *, at: datetime | None, source: Source | None = None) -> list[Answer]:
    then = None
    if at is not None:
        chosen = [source] if source else []
        then = await resolve(store, chosen, at=at, generation=None, now=at + timedelta(days=99))
    filters = Filters(source_ids=frozenset({source.id}) if source else frozenset())
    return [
        await search(store, Reader(), question, mode=mode, filters=filters, as_of=then)  # type: ignore[arg-type]
        for question in QUESTIONS
        for mode in SearchMode
    ]


def hits(answers: list[Answer]) -> list[Any]:
    """All that a reader gets, but for when and how it was verified, which is said of what is visible now."""
    return [
        (
            answer.mode,
            answer.degraded,
            answer.on_topic,
            [
                (
                    hit.source,
                    hit.url,
                    hit.title,
                    hit.heading_path,
                    hit.snippet,
                    hit.generation,
                    hit.document_id,
                    hit.score,
                    [(one.url, one.heading_path, one.snippet, one.score) for one in hit.sections],
                    [one.url for one in hit.also_at],
                )
                for hit in answer.hits
            ],
        )
        for answer in answers
    ]


@dataclass(frozen=True)
class Story:
    """What happens to the store, by the number of the step."""

    steps: int
    rollbacks: Collection[int]
    vacuum: int
    vacuum_floor: int
    lost: int
    """Steps whose answers are not kept: those below the vacuum's floor, and two before each rollback."""


class World:
    """Two sources: one changes at every step, the other at some."""

    def __init__(self, store: Store, docs: Source, notes: Source, story: Story) -> None:
        self.store, self.docs, self.notes, self.story = store, docs, notes, story
        self.chance = random.Random(17)
        self.at = NOW
        self.pages: dict[str, str] = {}

    async def step(self, number: int) -> None:
        self.at = NOW + timedelta(hours=number)
        if number in self.story.rollbacks:
            back = (await reload(self.store, self.docs)).active_generation - 2
            await self.store.activate(self.docs.id, back, now=self.at)
            return
        changed = {f"https://docs.example/{self.chance.randrange(60)}" for _ in range(12)}
        known = sorted(await self.store.known(self.docs.id))
        gone = [one for one in self.chance.sample(known, min(4, len(known))) if one not in changed]
        pages = {one: a_page(self.chance, one[-2:]) for one in sorted(changed)}
        if number % 3 == 0:
            # The text of another page comes back, at another address.
            pages[sorted(changed)[0]] = self.chance.choice(sorted(self.pages.values()))
        self.pages |= pages
        await a_generation(self.store, self.docs, pages, gone=gone, at=self.at)
        if number % 4 == 1:
            at = self.at + timedelta(minutes=5)
            await a_generation(
                self.store, self.notes, {f"https://notes.example/{number}": "# Rye\n\nrye"}, at=at
            )


async def test_what_was_shown_when_is_known_with_rollbacks_and_after_a_vacuum(store: Store) -> None:
    source = await a_source(store)
    hour = timedelta(hours=1)
    assert [(one.generation, one.first_at) for one in await store.shown_at(NOW)] == [(0, None)]
    assert await store.oldest_seen(source.id, NOW) is None
    for number in (1, 2, 3):
        page = {"https://docs.example/a": f"# A\n\nbarley {number}"}
        await a_generation(store, source, page, at=NOW + number * hour)
    await store.activate(source.id, 2, now=NOW + 4 * hour)

    async def shown(hours: float) -> tuple[int, bool, datetime | None, datetime | None]:
        (one,) = await store.shown_at(NOW + hours * hour)
        return one.generation, one.kept, one.at, one.until

    assert await shown(0.5) == (0, False, None, None)
    assert await shown(1) == (1, True, NOW + hour, NOW + 2 * hour)
    assert await shown(3.5) == (3, True, NOW + 3 * hour, NOW + 4 * hour)
    assert await shown(9) == (2, True, NOW + 4 * hour, None)
    seen = [await store.oldest_seen(source.id, NOW + hours * hour) for hours in (0, 1.5, 2, 3.5, 4, 9)]
    assert seen == [1, 1, 2, 2, 2, 2]
    await a_generation(store, source, {"https://docs.example/a": "# A\n\nrye"}, at=NOW + 5 * hour)
    assert (await shown(3.5))[:2] == (3, False), "what was rolled back went with the run after it"
    await store.vacuum({source.id: 2}, everything=False)
    (one,) = await store.shown_at(NOW + 9 * hour)
    assert (one.first_at, one.kept_since) == (NOW + hour, NOW + 2 * hour)
    await store.remove_source(source.id, now=NOW + 9 * hour)
    assert await store.shown_at(NOW + hour) == []
    assert await store.removed_since(NOW + hour) == [("docs", NOW + 9 * hour)]
    assert await store.removed_since(NOW + 9 * hour) == []


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(Story(7, rollbacks=(5,), vacuum=6, vacuum_floor=2, lost=1 + 2), id="short"),
        pytest.param(
            Story(20, rollbacks=(7, 13), vacuum=15, vacuum_floor=4, lost=3 + 4),
            id="long",
            marks=pytest.mark.torture,
        ),
    ],
)
async def test_a_question_about_an_earlier_time_is_answered_as_it_was_then(
    store: Store, story: Story
) -> None:
    assert isinstance(store, SharedStore)
    world = World(store, await a_source(store), await a_source(store, "notes"), story)
    then: dict[datetime, tuple[list[Any], list[Any]]] = {}
    for number in range(1, story.steps + 1):
        await world.step(number)
        moment = world.at + timedelta(minutes=30)
        everything, of_docs = await asked(store, at=None), await asked(store, at=None, source=world.docs)
        then[moment] = hits(everything), hits(of_docs)
        if number == story.vacuum:
            floors = {world.docs.id: story.vacuum_floor, world.notes.id: 0}
            await store.vacuum(floors, everything=True)
    assert sum(len(answer[3]) for one, _ in then.values() for answer in one) > 20 * story.steps

    kept = await _compared(store, world, then)
    assert len(then) - kept == story.lost
    assert store._finder.folder is not None
    shutil.rmtree(store._finder.folder)
    some = dict(list(then.items())[-1::-5])
    assert await _compared(store, world, some), "nothing of it rests on what lies beside the store"
    assert hits(await asked(store, at=None)) == then[moment][0], "and today's answers are what they were"


async def _compared(store: Store, world: World, then: dict[datetime, tuple[list[Any], list[Any]]]) -> int:
    kept = 0
    for moment, (everything, of_docs) in then.items():
        try:
            found = await asked(store, at=moment, source=world.docs)
        except NotFound:
            continue
        kept += 1
        assert hits(found) == of_docs, moment
        assert hits(await asked(store, at=moment)) == everything, moment
    return kept
