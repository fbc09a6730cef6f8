"""Thousands of histories of an orchestrator against a model: a dictionary of pages for each source.

Real: the engine, the loop of `rowen serve`, the store. Made for this: what is outside, and the time. In any
order the outside changes, does not answer, limits us, lists a part of itself or refuses us; processes die in
the middle of a run; people roll back, approve and vacuum; time passes.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from rowen.core.document import Validators
from rowen.core.run import RunStatus, StopReason
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.register import Register
from rowen.errors import FetchTimeout, NotFound, RateLimited, TransientError, UserError
from rowen.kinds.listing.listing import Fetched, Item, take_in
from rowen.kinds.settings import MAX_DELETED_SHARE
from rowen.managing import sources
from rowen.managing.pausing import resume
from rowen.reading import history
from rowen.service.serve import serve
from tests.support.site import Site
from tests.support.world import a_world
from tests.torture.soak.test_month import Died, Mortal
from tests.torture.tally import Tally

NAMES = ("one", "two")
REFERENCES = [f"page {name}" for name in "abcdef"]
EVERY_S = 3600.0
WEATHER = ("fine", "down", "limited", "refused", "cut short", "flaky")

named = st.sampled_from(NAMES)


@dataclass
class Outside:
    """A source as it really is."""

    pages: dict[str, str] = field(default_factory=dict)
    weather: str = "fine"
    asked: int = 0


def memory_kind(outside: Mapping[str, Outside]) -> Kind:
    async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
        return Prepared(kind="memory", location=location)

    async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
        there = outside[source.name]
        there.asked += 1
        match there.weather:
            case "down":
                raise FetchTimeout("no answer")
            case "limited":
                raise RateLimited("too many requests", retry_after_s=7200.0)
            case "refused":
                raise UserError("the password is wrong")
        listed = sorted(there.pages)
        if there.weather == "cut short":
            listed = listed[: len(listed) // 2]

        async def fetch(item: Item) -> Fetched:
            if there.weather == "flaky" and item.reference in REFERENCES[::2]:
                raise FetchTimeout("no answer")
            return Fetched(there.pages[item.reference].encode(), "text/markdown", f"memory:{item.reference}")

        items = [Item(reference=one, validators=Validators(None)) for one in listed]
        whole = there.weather != "cut short"
        await take_in(ports, intake, items, fetch, complete=whole)
        error = None if whole else TransientError("the listing was cut short")
        return Harvested(stop_reason=StopReason.EXHAUSTED, error=error, complete=whole)

    return Kind(name="memory", params=(MAX_DELETED_SHARE,), prepare=prepare, harvest=harvest)


class Weeks(RuleBasedStateMachine):
    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._tally = tally
        self._edition = 0
        self._process = 0
        self._outside = {name: Outside({REFERENCES[0]: self._text()}) for name in NAMES}
        self._seen: dict[str, dict[str, str]] = {name: {} for name in NAMES}
        self._shown: dict[str, dict[int, dict[str, str]]] = {name: {} for name in NAMES}
        """What each generation showed, by source and number."""
        self._paused_until: dict[str, datetime | None] = dict.fromkeys(NAMES)
        self._succeeded: dict[str, datetime | None] = dict.fromkeys(NAMES)
        self._folder = tempfile.TemporaryDirectory()
        self._do(self._open())

    async def _open(self) -> None:
        self._opening = a_world(Path(self._folder.name), Site())
        self._world = await self._opening.__aenter__()
        kinds = Register("kind `{}`: unknown", {"memory": lambda: memory_kind(self._outside)})
        self._ports = replace(self._world.ports, kinds=kinds, is_dead=lambda owner: True)
        for name in NAMES:
            await sources.add(self._ports, f"https://{name}.example/", name=name, kind="memory")

    def teardown(self) -> None:
        for there in self._outside.values():
            there.weather = "fine"
        for name in NAMES:
            self._do(resume(self._world.store, self._source(name)))
        # The first of two rounds may be held because of what came before.
        for _ in range(2):
            self._world.clock.advance(30 * 24 * 3600)
            self.a_round_of_the_orchestrator()
            for name in NAMES:
                self.a_person_approves(name)
        for name in NAMES:
            self._tally.compare(self._outside[name].pages, self._found(name), when="after the faults stopped")
        self._tally.verify()
        self._do(self._opening.__aexit__(None, None, None))
        self._runner.close()
        self._folder.cleanup()
        self._tally.add("histories", "of an orchestrator")

    # What happens outside

    @rule(name=named, references=st.sets(st.sampled_from(REFERENCES), min_size=1, max_size=4))
    def pages_are_written(self, name: str, references: set[str]) -> None:
        for reference in sorted(references):
            self._outside[name].pages[reference] = self._text()

    @rule(name=named, references=st.sets(st.sampled_from(REFERENCES), min_size=1))
    def pages_are_removed(self, name: str, references: set[str]) -> None:
        for reference in references:
            self._outside[name].pages.pop(reference, None)

    @rule(name=named, weather=st.sampled_from(WEATHER))
    def the_weather_changes(self, name: str, weather: str) -> None:
        self._outside[name].weather = weather
        if weather != "fine":
            self._tally.add("faults", f"a source that is {weather}")

    # What the orchestrator does

    @rule(hours=st.sampled_from([1, 3, 30]))
    def time_passes(self, hours: int) -> None:
        self._world.clock.advance(hours * 3600.0)
        self.a_round_of_the_orchestrator()

    @rule()
    def a_round_of_the_orchestrator(self) -> None:
        for receipt in self._do(self._round(self._ports)):
            self._check(receipt)

    @rule(calls=st.integers(1, 60), hours=st.sampled_from([0, 2]))
    def a_process_dies_in_a_round(self, calls: int, hours: int) -> None:
        """Whatever source it was working for shows its old state or its new one."""
        self._world.clock.advance(hours * 3600.0)
        self._process += 1
        mortal = Mortal(self._world.store)
        mortal.dies_after = calls
        ports: Ports = replace(self._ports, store=mortal, owner=f"process {self._process}")  # type: ignore[arg-type]
        receipts: list[Receipt] = []
        with suppress(Died):
            try:
                self._do(self._round(ports, receipts))
            except BaseExceptionGroup as group:
                if not group.subgroup(Died):
                    raise
        if mortal.dead:
            self._tally.add("faults", "a process that dies between two calls of the store")
        for receipt in receipts:
            self._check(receipt)
        for name in NAMES:
            self._adopt(name)

    # What people do

    @rule(name=named)
    def a_person_rolls_back(self, name: str) -> None:
        with suppress(NotFound):
            number = self._do(history.rollback(self._ports, self._source(name)))
            self._seen[name] = self._shown[name][number]

    @rule(name=named)
    def a_person_approves(self, name: str) -> None:
        source = self._source(name)
        if source.held_generation is not None:
            self._do(history.approve(self._ports, source))
            self._succeeded[name] = self._source(name).last_success_at
            self._seen[name] = self._found(name)
            self._shown[name][source.held_generation] = self._seen[name]

    @rule(name=named)
    def a_person_resumes(self, name: str) -> None:
        self._do(resume(self._world.store, self._source(name)))
        self._paused_until[name] = None

    @rule(keep=st.integers(1, 3))
    def a_person_vacuums(self, keep: int) -> None:
        self._do(history.vacuum(self._world.store, self._do(self._world.store.sources()), keep=keep))

    # What must be true

    @invariant()
    def readers_see_what_the_model_has(self) -> None:
        for name in NAMES:
            self._tally.compare(self._seen[name], self._found(name), when=f"in source {name}")
        self._tally.verify()

    def _check(self, receipt: Receipt) -> None:
        """What a run said, and what it did, against the weather it ran in."""
        name = receipt.source.name
        there, before = self._outside[name], self._seen[name]
        after = self._found(name)
        weather, status = there.weather, receipt.status
        said = f"{status} while {weather}: {receipt.error}"
        succeeded = self._source(name).last_success_at
        if succeeded != self._succeeded[name]:
            self._tally.honest(status is RunStatus.COMPLETED, when=f"counted as a success: {said}")
            self._succeeded[name] = succeeded
        now = self._world.clock.now()
        paused_until = self._paused_until[name]
        assert paused_until is None or paused_until <= now, "a paused upstream was asked"
        if status is RunStatus.HELD:
            self._tally.honest(weather in ("fine", "flaky"), when=said)
            assert self._source(name).held_generation == receipt.held_generation
            assert after == before
            return
        if weather in ("down", "limited", "refused"):
            self._tally.honest(status is RunStatus.FAILED, when=said)
            self._tally.compare(before, after, when=said)
            if weather == "limited":
                self._paused_until[name] = now + timedelta(seconds=7200.0)
            return
        failed = {one for one in there.pages if weather == "flaky" and one in REFERENCES[::2]}
        if weather == "cut short":
            self._tally.keeps(before, after, when=said)
            self._tally.honest(status in (RunStatus.PARTIAL, RunStatus.FAILED), when=said)
            listed = sorted(there.pages)[: len(there.pages) // 2]
            expected = before | {one: there.pages[one] for one in listed}
        else:
            good = RunStatus.PARTIAL if failed else RunStatus.COMPLETED
            if not before and len(failed) == len(there.pages):
                good = RunStatus.FAILED if failed else status
            elif before and not (set(before) - failed) & set(there.pages) and not set(there.pages) - failed:
                good = status
            self._tally.honest(status is good and receipt.counters.failed == len(failed), when=said)
            expected = {one: text for one, text in there.pages.items() if one not in failed}
            expected |= {one: before[one] for one in failed if one in before}
            if status is RunStatus.FAILED:
                expected = before
        self._tally.compare(expected, after, when=said)
        self._adopt(name)

    # How

    def _adopt(self, name: str) -> None:
        self._succeeded[name] = self._source(name).last_success_at
        self._seen[name] = self._found(name)
        self._shown[name][self._source(name).active_generation] = self._seen[name]

    async def _round(self, ports: Ports, receipts: list[Receipt] | None = None) -> list[Receipt]:
        found = receipts if receipts is not None else []
        async with aclosing(serve(ports, default_every_s=EVERY_S, once=True)) as results:
            async for result in results:
                if isinstance(result, Receipt):
                    found.append(result)
        return found

    def _text(self) -> str:
        self._edition += 1
        return f"# Edition {self._edition}\n\nSomething that was said {self._edition} times."

    def _source(self, name: str) -> Source:
        return next(one for one in self._do(self._world.store.sources()) if one.name == name)

    def _found(self, name: str) -> dict[str, str]:
        documents = self._do(self._world.store.documents(self._source(name).id, text=True))
        return {one.reference: str(one.text).strip() for one in documents}

    def _do(self, work: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await work

        return self._runner.run(awaited())


# The lengths make the parts differ: with one seed, equal parts would tell the same histories.
@pytest.mark.parametrize(
    ("count", "steps"), [pytest.param(2, 20, marks=pytest.mark.sliced), (90, 12), (90, 20), (90, 28)]
)
def test_an_orchestrator_agrees_with_a_model_in_every_history(tally: Tally, count: int, steps: int) -> None:
    run_state_machine_as_test(
        lambda: Weeks(tally),
        settings=settings(
            max_examples=count,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
