"""Thousands of histories of a store against a model that keeps a dictionary for each generation.

A history edits two sources, kills their runs, rolls back, holds, approves and vacuums, in any order. After
every step readers must see exactly what the model has; a reader of the change feed must arrive at the same.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core import hashing
from rowen.core.document import Outcome
from rowen.core.feed import START
from rowen.core.lease import Lease
from rowen.core.run import Run, RunItem
from rowen.core.search.hit import SearchMode
from rowen.core.source import Source
from rowen.errors import LeaseLost
from rowen.ports.store.store import Store
from rowen.reading.history import vacuum
from rowen.reading.search import search
from tests.contract.helpers import NOW, a_draft, a_source, an_end, ingest
from tests.support.begun import begun
from tests.support.postgres import Server
from tests.support.stores import a_postgres_schema, a_sqlite_store
from tests.torture.tally import Tally

NAMES = ("one", "two")
REFERENCES = [f"https://example.org/{name}" for name in "abcdef"]
TEXTS = {f"word{number}x": f"# About word{number}x\n\nThe word{number}x, and rye.\n" for number in range(5)}
WORDS = {hashing.of_text(text): word for word, text in TEXTS.items()}
Pages = dict[str, str]
"""The word of each page, by reference."""

pages = st.dictionaries(st.sampled_from(REFERENCES), st.sampled_from(sorted(TEXTS)), min_size=1, max_size=4)
named = st.sampled_from(NAMES)
ends = st.sampled_from(["show", "show", "show", "hold", "fail"])
running = precondition(lambda self: any(mirror.run for mirror in self._mirrors.values()))


class Mirror:
    """What the model knows of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.shown: dict[int, Pages] = {0: {}}
        """Every generation that can still be shown, by number."""
        self.active = 0
        self.last = 0
        self.held: tuple[int, Pages] | None = None
        self.run: tuple[Lease, Run] | None = None
        self.staged: Pages = {}
        self.ended: tuple[Lease, Run] | None = None
        self.zombie: tuple[Lease, Run] | None = None
        """The lease of a process that died, or was suspended past it, after another process took over."""

    @property
    def seen(self) -> Pages:
        return self.shown[self.active]


class History(RuleBasedStateMachine):
    def __init__(self, store: AbstractContextManager[Store], tally: Tally) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._opening = store
        self._store = store.__enter__()
        self._tally = tally
        self._mirrors = {name: Mirror(self._do(a_source(self._store, name))) for name in NAMES}
        self._cursor = START
        self._followed: dict[str, Pages] = {name: {} for name in NAMES}
        self._interrupt: int | None = None
        self._steps = 0

    def teardown(self) -> None:
        self.a_follower_reads_on()
        self.a_reader_lists_generations()
        if isinstance(self._store, SqliteStore):
            assert not self._on_sqlite(lambda db: list(db.execute("PRAGMA foreign_key_check")))
        self._do(self._store.close())
        self._opening.__exit__(None, None, None)
        self._runner.close()
        self._tally.add("histories", f"of a store on {type(self._store).__name__.removesuffix('Store')}")

    # What happens

    @rule(name=named, edits=pages, gone=st.sets(st.sampled_from(REFERENCES), max_size=2), how=ends)
    def a_whole_run(self, name: str, edits: Pages, gone: set[str], how: str) -> None:
        self.a_run_begins(name)
        self.pages_are_ingested(name, edits)
        self.pages_are_gone(name, gone)
        self.a_run_ends(name, how)

    @rule(name=named)
    def a_run_begins(self, name: str) -> None:
        """If one was under way, its process has died: whatever it wrote is gone for readers and this run."""
        mirror = self._mirrors[name]
        if mirror.run is not None:
            mirror.ended = mirror.run
            self._do(self._store.release_lease(mirror.run[0]))
        mirror.run = None
        lease = self._do(
            self._store.acquire_lease(
                f"source:{mirror.source.id}", f"process {self._steps}", now=NOW, ttl_s=60
            )
        )
        assert lease is not None
        mirror.zombie, mirror.ended = mirror.ended or mirror.zombie, None
        run = self._write(lambda: begun(self._store, lease, mirror.source.id, full=False, now=NOW))
        if run is None:
            self._do(self._store.release_lease(lease))
            return
        assert run.generation == mirror.last + 1, "numbers that were shown or held are not used again"
        mirror.run, mirror.staged, mirror.held = (lease, run), dict(mirror.seen), None
        mirror.shown = {number: found for number, found in mirror.shown.items() if number <= mirror.active}

    @running
    @rule(name=named, edits=pages)
    def pages_are_ingested(self, name: str, edits: Pages) -> None:
        mirror = self._mirrors[name]
        if mirror.run is None:
            return
        lease, run = mirror.run

        async def work() -> bool:
            drafts = [a_draft(reference, TEXTS[word]) for reference, word in edits.items()]
            await ingest(self._store, lease, run, await self._store.stage(lease, run, drafts, now=NOW))
            return True

        if self._write(work):
            mirror.staged |= edits

    @running
    @rule(name=named, edits=pages)
    def pages_are_handed_off_and_no_more(self, name: str, edits: Pages) -> None:
        mirror = self._mirrors[name]
        if mirror.run is not None:
            lease, run = mirror.run
            drafts = [a_draft(reference, TEXTS[word]) for reference, word in edits.items()]
            self._write(lambda: self._store.stage(lease, run, drafts, now=NOW))

    @running
    @rule(name=named, gone=st.sets(st.sampled_from(REFERENCES), min_size=1, max_size=3))
    def pages_are_gone(self, name: str, gone: set[str]) -> None:
        mirror = self._mirrors[name]
        if mirror.run is None:
            return
        lease, run = mirror.run
        ids = self._do(self._store.references(mirror.source.id)).ids
        found = [reference for reference in sorted(gone) if reference in ids]

        async def work() -> bool:
            await self._store.retire(lease, run, [ids[reference] for reference in found])
            return True

        if self._write(work):
            for reference in found:
                mirror.staged.pop(reference, None)

    @running
    @rule(name=named, how=ends)
    def a_run_ends(self, name: str, how: str) -> None:
        mirror = self._mirrors[name]
        if mirror.run is None:
            return
        lease, run = mirror.run
        end = an_end(run, activate=how == "show", documents=len(mirror.staged), items=self._items(mirror))
        if how == "hold":
            end = replace(end, hold=run.generation, hold_reason="too much is gone")

        async def work() -> bool:
            await self._store.finish_run(lease, run, end, now=NOW)
            return True

        if not self._write(work):
            return
        self._do(self._store.release_lease(lease))
        if how == "show":
            mirror.shown[run.generation], mirror.active = mirror.staged, run.generation
        elif how == "hold":
            mirror.held = run.generation, mirror.staged
        if how != "fail":
            mirror.last = run.generation
        mirror.run, mirror.ended = None, mirror.run

    @rule(name=named, back=st.integers(1, 3))
    def a_person_rolls_back_or_forward(self, name: str, back: int) -> None:
        mirror = self._mirrors[name]
        numbers = sorted(number for number in mirror.shown if number)
        if mirror.run is None and numbers:
            self._show(mirror, numbers[-min(back, len(numbers))])

    @rule(name=named)
    def a_person_approves(self, name: str) -> None:
        mirror = self._mirrors[name]
        if mirror.run is None and mirror.held is not None:
            number, found = mirror.held
            if self._show(mirror, number, found):
                mirror.shown[number] = found

    @rule(keep=st.integers(1, 4))
    def everything_unused_is_vacuumed(self, keep: int) -> None:
        async def work() -> bool:
            await vacuum(self._store, await self._store.sources(), keep=keep)
            return True

        if not self._write(work):
            # It forgets in one transaction and gives the space back after that: a person runs it again.
            self._do(work())
        for mirror in self._mirrors.values():
            history = sorted(number for number in mirror.shown if 0 < number <= mirror.active)[-keep:]
            forgotten = [number for number in mirror.shown if history and 0 < number < history[0]]
            for number in forgotten:
                del mirror.shown[number]

    @rule(name=named, word=st.sampled_from(sorted(TEXTS)))
    def a_dead_process_wakes_up(self, name: str, word: str) -> None:
        """It writes with the token of its lost lease, and must not succeed."""
        zombie = self._mirrors[name].zombie
        if zombie is None:
            return
        lease, run = zombie
        for attempt in (
            lambda: self._store.stage(lease, run, [a_draft(REFERENCES[0], TEXTS[word])], now=NOW),
            lambda: self._store.retire(lease, run, [1]),
            lambda: self._store.finish_run(lease, run, an_end(run), now=NOW),
        ):
            with pytest.raises(LeaseLost):
                self._do(attempt())

    @precondition(lambda self: isinstance(self._store, SqliteStore))
    @rule(after=st.integers(1, 60))
    def the_next_write_is_interrupted(self, after: int) -> None:
        self._interrupt = after

    # What readers see

    @rule(word=st.sampled_from(sorted(TEXTS)))
    def a_reader_searches(self, word: str) -> None:
        answer = self._do(search(self._store, None, word, mode=SearchMode.KEYWORD, limit=50))
        found = {(hit.source, hit.url.partition("#")[0]) for hit in answer.hits}
        expected = {
            (name, reference)
            for name, mirror in self._mirrors.items()
            for reference, shown in mirror.seen.items()
            if shown == word
        }
        assert found <= expected, "nothing that readers do not see"
        assert bool(found) == bool(expected), "what they see is found"

    @rule(name=named)
    def a_reader_compares_two_generations(self, name: str) -> None:
        mirror = self._mirrors[name]
        older, newer = min(mirror.shown), max(mirror.shown)
        if older and newer:
            changes = self._do(self._store.changes(mirror.source.id, older, newer))
            before, after = mirror.shown[older], mirror.shown[newer]
            found = {change.reference: change.kind for change in changes}
            expected = dict.fromkeys(after.keys() - before.keys(), "added")
            expected |= dict.fromkeys(before.keys() - after.keys(), "removed")
            expected |= {one: "changed" for one in before.keys() & after.keys() if before[one] != after[one]}
            # A page that was written again as it was is another version, too.
            assert expected.items() <= found.items()
            assert {found[one] for one in found.keys() - expected.keys()} <= {"changed"}

    @rule()
    def a_follower_reads_on(self) -> None:
        """The change feed, from where it was read to the last time."""
        while items := self._do(self._store.feed(self._cursor, limit=7)):
            for item in items:
                followed = self._followed[item.source]
                followed.pop(item.reference, None)
                if item.document is not None:
                    followed[item.reference] = WORDS[item.document.content_hash]
            self._cursor = items[-1].cursor
        assert self._followed == {name: mirror.seen for name, mirror in self._mirrors.items()}

    @invariant()
    def readers_see_the_active_generation(self) -> None:
        self._steps += 1
        for mirror in self._mirrors.values():
            known = self._do(self._store.known(mirror.source.id))
            found = {reference: WORDS[page.content_hash] for reference, page in known.items()}
            self._tally.compare(mirror.seen, found, when=f"after {self._steps} steps")
            self._tally.verify()

    @rule()
    def a_reader_lists_generations(self) -> None:
        for mirror in self._mirrors.values():
            found = self._do(self._store.generations(mirror.source.id))
            # A held one stays in the list when a person shows another; the next run discards it.
            shown = [one.number for one in found if one.activated_at]
            assert shown == sorted(number for number in mirror.shown if number)
            source = self._do(self._store.source(mirror.source.id))
            assert source is not None
            held = mirror.held[0] if mirror.held else None
            assert (source.active_generation, source.held_generation) == (mirror.active, held)
            assert held is None or held in {one.number for one in found}

    # How

    def _do(self, work: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await work

        return self._runner.run(awaited())

    def _write(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """One piece of work, which may be interrupted in the middle of a transaction; None if it was."""
        after, self._interrupt = self._interrupt, None
        if after is None:
            return self._do(work())
        left = after

        def tick() -> bool:
            nonlocal left
            left -= 1
            return left == 0

        self._on_sqlite(lambda db: db.set_progress_handler(tick, 20))
        try:
            with suppress(apsw.InterruptError):
                return self._do(work())
        finally:
            self._on_sqlite(lambda db: db.set_progress_handler(None))
        self._tally.add("faults", "a transaction interrupted in its middle")
        return None

    def _on_sqlite(self, work: Callable[[apsw.Connection], Any]) -> Any:
        assert isinstance(self._store, SqliteStore)
        return self._do(self._store.database.outside_transaction(work))

    def _show(self, mirror: Mirror, number: int, found: Pages | None = None) -> bool:
        async def work() -> bool:
            await self._store.activate(mirror.source.id, number, now=NOW)
            return True

        if not self._write(work):
            return False
        if found is not None or mirror.held is None or number != mirror.held[0]:
            mirror.held = None
        mirror.active = number
        return True

    def _items(self, mirror: Mirror) -> list[RunItem]:
        before, after = mirror.seen, mirror.staged
        items = [RunItem(one, Outcome.DELETED, "absent") for one in before.keys() - after.keys()]
        items += [RunItem(one, Outcome.CREATED, "new") for one in after.keys() - before.keys()]
        both = before.keys() & after.keys()
        return items + [RunItem(one, Outcome.UPDATED, "content") for one in both if before[one] != after[one]]


def histories(
    tally: Tally, store: Callable[[], AbstractContextManager[Store]], count: int, steps: int = 25
) -> None:
    run_state_machine_as_test(
        lambda: History(store(), tally),
        settings=settings(
            max_examples=count,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@contextmanager
def on_sqlite() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        yield a_sqlite_store(Path(folder) / "rowen.db")


# The lengths make the parts differ: with one seed, equal parts would tell the same histories.
@pytest.mark.parametrize(
    ("count", "steps"), [pytest.param(8, 25, marks=pytest.mark.sliced), (600, 16), (600, 24), (600, 32)]
)
def test_a_store_on_sqlite_agrees_with_a_model_in_every_history(tally: Tally, count: int, steps: int) -> None:
    histories(tally, on_sqlite, count, steps)


def test_a_store_on_postgresql_agrees_with_a_model_in_every_history(tally: Tally, postgres: Server) -> None:
    @contextmanager
    def on_postgres() -> Iterator[Store]:
        with a_postgres_schema(postgres) as schema:
            yield PostgresStore(postgres.url, schema=schema)

    histories(tally, on_postgres, 60)
