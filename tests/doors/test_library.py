"""`from rowen import Rowen`: the same flows from Python."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rowen import AsyncRowen, Event, Rowen, UserError
from rowen.errors import NotFound
from tests.doors.conftest import fruit_page
from tests.support.site import Site


def test_add_sync_search_diff_and_rollback(db: str, site: Site) -> None:
    events: list[Event] = []
    with Rowen(db=db) as rowen:
        added = rowen.add(site.url + "/", name="orchard", settings={"max_depth": "3"})
        assert added.source.params == {"max_depth": 3}
        assert added.findings
        receipt = rowen.sync("orchard", on_event=events.append)
        assert (receipt.good, receipt.generation, receipt.counters.created) == (True, 1, 4)
        assert [event.kind for event in events] == ["started", *["item"] * 4, "finished"]

        site.set("/plum.html", fruit_page("plum", "May"))
        assert rowen.sync("orchard").counters.updated == 1
        (change,) = rowen.diff("orchard").changes
        assert (change.kind, change.title) == ("changed", "Plum")
        answer = rowen.search("plum may", sources=["orchard"], kinds=["web"], mode="keyword", limit=1)
        assert [hit.title for hit in answer.hits] == ["Plum"]
        assert rowen.rollback("orchard") == 1
        (status,) = rowen.status()
        assert (status.documents, status.source.active_generation, status.running) == (4, 1, False)
    with Rowen(db=db) as rowen:
        assert rowen.search("plum").hits
        with pytest.raises(NotFound, match="nothing is held"):
            rowen.approve("orchard")
        rowen.remove("orchard")
        assert rowen.status() == []


def test_what_is_known_of_an_address(db: str, site: Site) -> None:
    with Rowen(db=db) as rowen:
        rowen.add(site.url + "/", name="orchard")
        rowen.sync("orchard")
        assert rowen.look_up(site.url + "/plum.html").state == "present"
        site.remove("/plum.html")
        rowen.sync("orchard")
        found = rowen.look_up(site.url + "/plum.html")
        assert (found.state, found.by) == ("gone", "http_404")
        assert rowen.look_up(site.url + "/nowhere").state == "unknown"


def test_what_differs_a_page_looked_at_and_subscriptions(db: str, site: Site, tmp_path: Path) -> None:
    with Rowen(db=db) as rowen:
        rowen.add(site.url + "/", name="orchard")
        rowen.sync("orchard")
        told = tmp_path / "told.jsonl"
        made = rowen.subscribe(name="plums", path="*plum*", file=str(told), sources=["orchard"])
        assert [one.name for one in rowen.subscriptions()] == [made.name] == ["plums"]
        site.set("/plum.html", fruit_page("plum", "May"))
        rowen.sync("orchard")
        found = rowen.document_diff("orchard", f"{site.url}/plum.html")
        assert (found.kind, found.from_generation, found.to_generation) == ("changed", 1, 2)
        assert (found.text.words_added, found.text.words_removed) == (1, 1)
        assert rowen.compare("orchard", "orchard").summary == "no difference"
        looked_at = rowen.inspect(f"{site.url}/plum.html", source="orchard")
        assert (looked_at.why_not, looked_at.title) == (None, "Plum")
        rowen.unsubscribe("plums")
        assert rowen.subscriptions() == []


def test_a_search_asks_again_for_what_may_be_outdated(db: str, site: Site) -> None:
    with Rowen(db=db) as rowen:
        rowen.add(site.url + "/", name="orchard")
        rowen.sync("orchard")
        site.set("/plum.html", fruit_page("plum", "May"))
        answer = rowen.search("plum", mode="keyword", fresh=0.99)
        assert answer.rechecked is not None
        assert answer.rechecked.changed == 1
        assert rowen.search("may", mode="keyword").hits


def test_a_search_as_of_an_earlier_time(db: str, site: Site) -> None:
    with Rowen(db=db) as rowen:
        rowen.add(site.url + "/", name="orchard")
        rowen.sync("orchard")
        before = rowen.search("plum")
        moment = datetime.now(UTC)
        site.set("/plum.html", fruit_page("plum", "May"))
        rowen.sync("orchard")
        for then in (rowen.search("plum", as_of=moment), rowen.search("plum", generation=1)):
            assert [(hit.url, hit.score, hit.snippet) for hit in then.hits] == [
                (hit.url, hit.score, hit.snippet) for hit in before.hits
            ]
            assert then.as_of is not None
            assert [one.generation for one in then.as_of.sources] == [1]
        with pytest.raises(NotFound, match="first shown"):
            rowen.search("plum", as_of="2001-01-01")


def test_errors_are_raised_as_they_are(db: str) -> None:
    with Rowen(db=db) as rowen:
        with pytest.raises(NotFound) as caught:
            rowen.sync("nobody")
        assert caught.value.facts == {"name": "nobody"}
        with pytest.raises(UserError, match="mode `psychic`"):
            rowen.search("plum", mode="psychic")


def test_a_closed_store_says_so(db: str) -> None:
    rowen = Rowen(db=db)
    with pytest.raises(UserError, match="not open"):
        rowen.status()
    with rowen:
        pass


@pytest.mark.anyio
async def test_inside_a_loop_the_async_door_is_the_one(db: str, site: Site) -> None:
    async with AsyncRowen(db=db) as rowen:
        await rowen.add(site.url + "/", name="orchard")
        assert (await rowen.sync("orchard")).good
        assert (await rowen.search("plum")).hits
        assert len(await rowen.status()) == 1
    with pytest.raises(UserError, match="inside an event loop"), Rowen(db=db):
        pass


def test_importing_rowen_costs_next_to_nothing() -> None:
    program = "import rowen, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {
        "asyncio",
        "apsw",
        "numpy",
        "aiohttp",
        "rowen.doors",
        "rowen.engine",
        "rowen.kinds",
    }
