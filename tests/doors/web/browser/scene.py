"""A store with a history: sources in every state, runs of weeks, a held generation. For browsers and
pictures.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from rowen.core.rules.standing import by_token
from rowen.engine.leases import ORCHESTRATOR, acquire
from rowen.managing import pausing, sources
from tests.support.fakes import FakeClock
from tests.support.site import Site
from tests.support.world import World

NOW = datetime(2026, 11, 16, 13, 20, tzinfo=UTC)
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>"

LEAVE = """<h2 id="days">How many days</h2>
<p>Everybody has {days} days of paid leave in a year, counted from {since}.</p>
<p>Public holidays come on top. If one falls on a weekend, it is not moved.</p>{more}
<h2 id="sick">When you are ill</h2>
<p>Tell your lead on the first day. From the fourth day on we need a certificate.</p>"""
CARERS = """<h2 id="carers">Leave for carers</h2>
<p>Five days in a year, paid, for looking after somebody close to you.</p>"""
TASKS = """<h2 id="creating">Creating tasks</h2>
<p>Tasks run coroutines side by side on one event loop. Keep a reference to each task you start: the loop
itself does not.</p>
<h2 id="cancel">Cancelling a task</h2>
<p>Ask the task to stop with <code>cancel</code>. A <code>CancelledError</code> is raised inside it at the
next await; cancel does not wait for that. Await the task to know that it has ended.</p>
<pre><code class="language-python">task.cancel()
try:
    await task
except asyncio.CancelledError:
    pass</code></pre>
<h2 id="groups">Task groups</h2>
<p>The group cancels the remaining tasks and raises once all of them have ended.</p>"""


def page(title: str, body: str = "", links: tuple[str, ...] = ()) -> str:
    listed = "".join(f'<li><a href="{one}">{one}</a></li>' for one in links)
    main = f"<main><h1>{title}</h1>{body}<ul>{listed}</ul></main>"
    return f"<!doctype html><html><head><title>{title}</title></head><body>{main}</body></html>"


def a_site() -> Site:
    return Site(_pages())


def _pages() -> dict[str, str]:
    policies = [f"/handbook/policies/{number}.html" for number in range(1, 25)]
    people = ["/handbook/people/leave.html", "/handbook/people/carers.html", "/handbook/offices/fax.html"]
    tasks = [
        f"/python/library/{name}.html" for name in ("asyncio-task", "asyncio-queue", "json", "pathlib", "re")
    ]
    return {
        "/handbook/": page("Handbook", "<p>How we work here.</p>", tuple(people + policies)),
        **{
            path: page(f"Policy {path[-7:-5].strip('/')}", f"<p>What policy {path} says.</p>")
            for path in policies
        },
        people[0]: page("Leave and holidays", LEAVE.format(days=23, since="the day they join", more="")),
        people[1]: page("Carers", "<p>For looking after somebody close to you.</p>"),
        people[2]: page("Fax numbers", "<p>The fax of each office.</p>"),
        "/python/": page("Python documentation", "<p>The manual.</p>", tuple(tasks)),
        tasks[0]: page("Coroutines and tasks", TASKS),
        **{path: page(path.rpartition("/")[2][:-5], f"<p>About {path}.</p>") for path in tasks[1:]},
        "/postgresql/": page(
            "PostgreSQL", "<p>The manual of 17.</p>", ("/postgresql/sql.html", "/postgresql/slow.html")
        ),
        "/postgresql/sql.html": page("SQL", "<p>The language.</p>"),
        "/postgresql/slow.html": page("Slow", "<p>A slow page.</p>"),
        "/kubernetes/": page("Kubernetes", "<p>Pods and services.</p>"),
        "/madrid/": page("Offers", "<p>Python in Madrid.</p>"),
        "/strange/": page(
            HOSTILE.replace("<", "&lt;"), f"<p>{HOSTILE.replace('<', '&lt;')}</p><p>A strange task.</p>"
        ),
        "/runbooks/": page("Runbooks", "<p>What to do at night.</p>"),
    }


async def build(world: World) -> None:
    """Weeks of runs, so that there is something to draw; then one source in each state."""
    clock, site = world.clock, world.site
    assert isinstance(clock, PageClock)
    clock.jump(NOW - timedelta(days=9))
    clock.tick_s = 0.02
    for name, version in (
        ("handbook", ""),
        ("python", "3.13"),
        ("postgresql", "17"),
        ("kubernetes", "1.31"),
        ("madrid", ""),
        ("strange", ""),
    ):
        await _add(world, name, version)
        await world.sync(f"{name}@{version}" if version else name)
    await world.store.set_schedule((await world.source("handbook")).id, 6 * 3600)
    leave, policies = "/handbook/people/leave.html", "/handbook/policies/{}.html"
    for step in range(1, 36):
        clock.advance(6 * 3600)
        if step % 5 == 0 and step < 29:
            site.set(
                policies.format(step % 24 + 1), page(f"Policy {step}", f"<p>Changed at step {step}.</p>")
            )
        if step % 9 == 0 and step < 29:
            site.set(f"/handbook/people/new{step}.html", page(f"News {step}", "<p>New here.</p>"))
            _link(site, "/handbook/", f"/handbook/people/new{step}.html")
        if step == 33:
            site.set(leave, page("Leave and holidays", LEAVE.format(days=25, since="1 January", more=CARERS)))
        if step % 4 == 0:
            site.set("/python/library/json.html", page("json", f"<p>About JSON, revision {step}.</p>"))
        if step in (12, 24):
            site.set(policies.format(7), "down", status=500)
        if step != 20:
            await world.sync("handbook")
        site.set(policies.format(7), page("Policy 7", "<p>What policy 7 says.</p>"))
        if step % 2 == 0:
            await world.sync("python@3.13")
    clock.jump(NOW - timedelta(hours=1, minutes=20))
    site.set("/handbook/", page("Handbook", "<p>How we work here.</p>", ("/handbook/people/leave.html",)))
    await world.sync("handbook")
    site.set("/postgresql/slow.html", "down", status=500)
    await world.sync("postgresql@17")
    site.set("/madrid/", "who are you", status=401)
    await world.sync("madrid")
    await pausing.pause(world.store, clock, await world.source("kubernetes@1.31"), by=by_token("ops"))
    clock.jump(NOW - timedelta(minutes=3))
    await world.sync("python@3.13")
    await world.sync("strange")
    clock.jump(NOW - timedelta(minutes=2))
    await _add(world, "runbooks", "")
    clock.tick_s = 0.0
    clock.jump(NOW)
    await acquire(world.ports, ORCHESTRATOR)


def _link(site: Site, at: str, to: str) -> None:
    body = str(site.pages[at].body)
    site.set(at, body.replace("</ul>", f'<li><a href="{to}">{to}</a></li></ul>'))


async def _add(world: World, name: str, version: str) -> None:
    await sources.add(world.ports, f"{world.site.url}/{name}/", name=name, version=version)
    world.site.clear_log()


class PageClock(FakeClock):
    """Time stands still for the sources; whoever waits for news waits a moment of real time."""

    tick_s = 0.0
    """How much passes with each look at it: runs of a history should take some time."""

    def now(self) -> datetime:
        self._now += timedelta(seconds=self.tick_s)
        return super().now()

    async def sleep(self, seconds: float) -> None:
        if seconds < 30:
            await asyncio.sleep(min(seconds, 0.05))
        else:
            await super().sleep(seconds)
