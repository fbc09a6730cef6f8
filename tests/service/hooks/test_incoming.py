"""Web hooks that come in: which sources they concern, which are the same, and one run for a thousand."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.core.exchange import delivery
from rowen.core.run import Event
from rowen.core.source import API
from rowen.engine.receipt import Receipt
from rowen.errors import StoreBusy, UserError
from rowen.managing import sources
from rowen.service.hooks.incoming import SERVICE_SECRET, BadSignature, Heard, Verdict, hear, hear_github
from rowen.service.hooks.rules import Delivery, hub_signature
from rowen.service.serve import serve
from tests.support.github_pushes import PushingApi, encoded, push_payload
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

SECRET = "correct horse battery staple"
COMMIT = {"id": "b" * 40, "added": [], "modified": ["docs/a.md"], "removed": []}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(4) as site:
        async with a_world(tmp_path, site) as made:
            made.secrets[SERVICE_SECRET] = SECRET
            yield made


class Bell:
    """Counts how often somebody was woken."""

    def __init__(self) -> None:
        self.rung = 0

    def __call__(self) -> None:
        self.rung += 1


async def post(
    world: World, name: str, body: bytes = b"", *, secret: str = SECRET, bell: Bell | None = None, **more: str
) -> Heard:
    timestamp = str(int(world.clock.now().timestamp()))
    headers = {
        "x-rowen-timestamp": timestamp,
        "x-rowen-signature": delivery.signature(secret, timestamp, body),
        **{key.replace("_", "-"): value for key, value in more.items()},
    }
    return await hear(world.ports, name, Delivery(headers, body), wake=bell or Bell())


async def github(
    world: World,
    payload: dict[str, Any],
    *,
    secret: str = SECRET,
    event: str = "push",
    delivery_id: str = "1",
    bell: Bell | None = None,
) -> Heard:
    body = encoded(payload)
    headers = {
        "x-github-event": event,
        "x-github-delivery": delivery_id,
        "x-hub-signature-256": hub_signature(secret, body),
    }
    return await hear_github(world.ports, Delivery(headers, body), wake=bell or Bell())


def a_push(**said: Any) -> dict[str, Any]:
    return push_payload("acre/docs", **{"before": "a" * 40, "after": "b" * 40, "commits": [COMMIT], **said})


async def add(world: World, name: str, location: str, kind: str, **settings: str) -> None:
    await sources.add(world.ports, location, name=name, kind=kind, settings=settings, check=False)


async def wishes(world: World) -> dict[str, tuple[str, ...] | None]:
    labels = {source.id: source.label for source in await world.store.sources()}
    return {labels[one.source_id]: one.only for one in await world.store.sync_requests()}


# Which sources a push concerns


async def test_a_push_concerns_every_source_of_that_repository_and_branch(world: World) -> None:
    await add(world, "all", "https://github.com/acre/docs", "github")
    await add(world, "branch", "https://github.com/Acre/Docs/tree/main/docs", "github")
    await add(world, "clone", "git@github.com:acre/docs.git", "git")
    await add(world, "other-branch", "https://github.com/acre/docs/tree/v1", "github")
    await add(world, "other-folder", "https://github.com/acre/docs/tree/main/guide", "github")
    await add(world, "other-tag", "git+https://github.com/acre/docs.git", "git", branch="v1")
    await add(world, "other-repository", "https://github.com/acre/tools", "github")
    await add(world, "other-host", "https://git.example/acre/docs", "github")
    await add(world, "site", "https://github.com/acre/docs/wiki", "web")
    bell = Bell()
    heard = await github(world, a_push(), bell=bell)
    assert heard.verdict is Verdict.QUEUED
    assert {one.source for one in heard.queued} == {"all", "branch", "clone"}
    mark = f"rowen:push:{'a' * 40}..{'b' * 40}"
    assert await wishes(world) == dict.fromkeys(("all", "branch", "clone"), (mark, "docs/a.md"))
    assert bell.rung == 1


async def test_a_forced_push_asks_for_everything(world: World) -> None:
    await add(world, "docs", "https://github.com/acre/docs", "github")
    await github(world, a_push())
    await github(world, a_push(forced=True), delivery_id="2")
    assert await wishes(world) == {"docs": None}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"ref": "refs/tags/v1"}, "tag"),
        ({"deleted": True, "after": "0" * 40}, "branch_deleted"),
        ({"ref": "refs/heads/other"}, "no_source"),
        ({"repository": {"html_url": "https://github.com/acre/tools"}}, "no_source"),
        ({"commits": [{**COMMIT, "modified": ["src/x.py"]}]}, "nothing_of_the_source"),
    ],
)
async def test_pushes_that_concern_nobody_are_ignored(
    world: World, said: dict[str, Any], reason: str
) -> None:
    await add(world, "docs", "https://github.com/acre/docs/tree/main/docs", "github")
    bell = Bell()
    heard = await github(world, a_push(**said), bell=bell)
    assert (heard.verdict, heard.reason) == (Verdict.IGNORED, reason)
    assert await wishes(world) == {}
    assert bell.rung == 0


async def test_a_ping_is_answered_and_other_events_are_not_ours(world: World) -> None:
    assert (await github(world, {"zen": "Keep it simple"}, event="ping")).verdict is Verdict.PONG
    assert (await github(world, {"action": "opened"}, event="issues")).reason == "not_a_push"
    with pytest.raises(UserError, match="not a push event"):
        await github(world, {"zen": "Keep it simple"})


# Who may send


async def test_a_wrong_or_missing_signature_gets_nowhere(world: World) -> None:
    await add(world, "docs", "https://github.com/acre/docs", "github")
    with pytest.raises(BadSignature):
        await github(world, a_push(), secret="guess")
    with pytest.raises(BadSignature):
        await hear_github(world.ports, Delivery({}, encoded(a_push())), wake=Bell())
    assert await wishes(world) == {}


async def test_without_a_secret_nobody_can_send(world: World) -> None:
    await world.add()
    for nothing in ("", "  "):
        world.secrets[SERVICE_SECRET] = nothing
        for secret in ("", "  ", SECRET):
            with pytest.raises(BadSignature):
                await post(world, "docs", secret=secret)
            with pytest.raises(BadSignature):
                await github(world, a_push(), secret=secret)


async def test_a_source_that_does_not_exist_answers_as_one_that_does(world: World) -> None:
    await world.add()
    said = []
    for name in ("docs", "nobody"):
        with pytest.raises(BadSignature) as caught:
            await post(world, name, secret="guess")
        said.append((caught.value.message, caught.value.hint, caught.value.facts))
    assert said[0] == said[1]
    with pytest.raises(BadSignature):
        await post(world, "nobody")


async def test_a_source_may_have_a_secret_of_its_own_and_then_takes_no_other(world: World) -> None:
    world.secrets["DOCS_HOOK"] = "only for the docs"
    await world.add(webhook_secret="${DOCS_HOOK}")
    with pytest.raises(BadSignature):
        await post(world, "docs")
    assert (await post(world, "docs", secret="only for the docs")).verdict is Verdict.QUEUED


async def test_a_secret_that_is_not_set_lets_nobody_in_and_is_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add(webhook_secret="${DOCS_HOOK}")
    with caplog.at_level(logging.ERROR, "rowen.hooks"):
        for secret in ("", SECRET, "${DOCS_HOOK}"):
            with pytest.raises(BadSignature):
                await post(world, "docs", secret=secret)
    assert "hook_without_secret source=docs" in caplog.text


async def test_the_secret_itself_is_not_taken_as_a_setting(world: World) -> None:
    with pytest.raises(UserError) as caught:
        await world.add(webhook_secret="hunter2hunter2")
    assert "hunter2" not in str(caught.value)


async def test_a_source_of_the_api_refers_to_no_variable_of_the_operator(world: World) -> None:
    world.secrets["DOCS_HOOK"] = "only for the docs"
    with pytest.raises(UserError, match="may not be used"):
        await sources.add(
            world.ports,
            "https://docs.example/",
            name="docs",
            settings={"webhook_secret": "${DOCS_HOOK}"},
            check=False,
            origin=API,
        )


async def test_a_repository_may_have_a_hook_of_its_own(world: World) -> None:
    world.secrets["DOCS_HOOK"] = "only for the docs"
    await add(world, "docs", "https://github.com/acre/docs", "github", webhook_secret="${DOCS_HOOK}")
    await add(world, "twin", "git+https://github.com/acre/docs.git", "git")
    body = encoded(a_push())
    headers = {
        "x-github-event": "push",
        "x-github-delivery": "1",
        "x-hub-signature-256": hub_signature("only for the docs", body),
    }
    heard = await hear(world.ports, "docs", Delivery(headers, body), wake=Bell())
    assert [one.source for one in heard.queued] == ["docs"]
    await world.add("site", webhook_secret="${DOCS_HOOK}")
    heard = await hear(world.ports, "site", Delivery(headers, body), wake=Bell())
    assert heard.reason == "no_source", "a web site mirrors no repository"


# Our own scheme


async def test_a_source_is_named_by_its_label_or_by_a_name_that_has_one_version(world: World) -> None:
    for version in ("1", "2"):
        await sources.add(world.ports, world.site.url, name="docs", version=version, check=False)
    with pytest.raises(BadSignature):
        await post(world, "docs")
    assert [one.source for one in (await post(world, "docs@2")).queued] == ["docs@2"]


async def test_a_body_names_what_has_changed_or_everything(world: World) -> None:
    await world.add()
    await post(world, "docs", b'{"urls": ["/p1.html"]}')
    assert await wishes(world) == {"docs": ("/p1.html",)}
    await post(world, "docs", b"  ")
    assert await wishes(world) == {"docs": None}
    assert (await post(world, "docs", b'{"urls": []}')).reason == "nothing_named"
    for body in (b"{", b"[]", b'{"urls": 7}', b"\xff"):
        with pytest.raises(UserError, match="web hook"):
            await post(world, "docs", body)


# Replays and floods


async def test_the_same_delivery_twice_is_one(world: World) -> None:
    await add(world, "docs", "https://github.com/acre/docs", "github")
    bell = Bell()
    await github(world, a_push(), bell=bell)
    (first,) = await world.store.sync_requests()
    await world.store.finish_request(first)
    world.clock.advance(3600)
    again = await github(world, a_push(), bell=bell)
    assert again == Heard(verdict=Verdict.ALREADY_KNOWN)
    assert await wishes(world) == {}
    assert bell.rung == 1


async def test_a_signed_delivery_that_is_sent_again_is_known_and_an_old_one_refused(world: World) -> None:
    await world.add()
    timestamp = str(int(world.clock.now().timestamp()))
    signed = delivery.signature(SECRET, timestamp, b"")
    stolen = Delivery({"x-rowen-timestamp": timestamp, "x-rowen-signature": signed}, b"")
    verdicts = []
    for _ in range(3):
        verdicts.append((await hear(world.ports, "docs", stolen, wake=Bell())).verdict)
        world.clock.advance(100)
    assert verdicts == [Verdict.QUEUED, Verdict.ALREADY_KNOWN, Verdict.ALREADY_KNOWN]
    world.clock.advance(100)
    with pytest.raises(BadSignature):
        await hear(world.ports, "docs", stolen, wake=Bell())


async def test_a_second_change_is_not_taken_for_the_first(world: World) -> None:
    await world.add()
    for _ in range(2):
        assert (await post(world, "docs", b'{"urls": ["/p1.html"]}')).verdict is Verdict.QUEUED
        world.clock.advance(1)


async def test_a_thousand_deliveries_are_one_run_and_one_more_for_what_came_during_it(
    world: World,
) -> None:
    await world.add()
    await world.sync()
    await asyncio.gather(*(burst(world, number) for number in range(1000)))
    assert len(await world.store.sync_requests()) == 1
    source = await world.source()
    gate = threading.Event()
    world.site.set("/p1.html", a_page("/p1.html", "barley"), delay=gate)
    begun = asyncio.Event()
    running = asyncio.ensure_future(turns(world, begun))
    async with asyncio.timeout(120):
        await begun.wait()
    await asyncio.gather(*(burst(world, number) for number in range(1000, 1200)))
    gate.set()
    (turn,) = await running
    assert isinstance(turn, Receipt)
    assert len(await world.store.runs(source.id, limit=9)) == 2
    assert len(await world.store.sync_requests()) == 1
    await turns(world)
    assert len(await world.store.runs(source.id, limit=9)) == 3
    assert await world.store.sync_requests() == []
    assert await turns(world) == []


async def burst(world: World, number: int) -> None:
    # Within one second, another body is what tells two deliveries apart.
    body = json.dumps({"urls": [f"/p{number % 3 + 1}.html"]}).encode() + b" " * number
    heard = await post(world, "docs", body)
    assert heard.verdict is Verdict.QUEUED


async def turns(world: World, begun: asyncio.Event | None = None) -> list[Any]:
    def hear_of(event: Event) -> None:
        if begun is not None and event.kind == "started":
            begun.set()

    return [turn async for turn in serve(world.ports, default_every_s=86_400.0, once=True, on_event=hear_of)]


async def test_a_wish_is_taken_up_before_what_is_due(world: World) -> None:
    await world.add("due")
    await world.add("wished", path="/#x")
    await world.sync("wished")
    world.clock.advance(timedelta(days=3).total_seconds())
    await post(world, "wished", b'{"urls": ["/p1.html"]}')
    world.site.clear_log()
    first, *_ = await turns(world)
    assert first.source.label == "wished"


async def test_a_push_is_followed_from_the_hook_to_what_readers_see(tmp_path: Path) -> None:
    api = PushingApi()
    api.repository("acre/docs", {f"docs/{n}.md": f"# Page {n}\n" for n in range(9)})
    with api:
        async with a_world(tmp_path, api) as world:
            world.secrets[SERVICE_SECRET] = SECRET
            await add(world, "docs", "https://github.com/acre/docs", "github", api_url=api.url)
            await world.sync()
            await github(world, api.push("acre/docs", {"docs/1.md": "# One\n\nBarley.\n"}), delivery_id="1")
            await turns(world)
            api.clear_log()
            payload = api.push("acre/docs", {"docs/2.md": "# Two\n\nBarley.\n"}, remove=["docs/3.md"])
            await github(world, payload, delivery_id="2")
            (turn,) = await turns(world)
            assert len(api.requests) == 3
            assert (turn.counters.updated, turn.counters.deleted) == (1, 1)
            assert len(await world.found("barley")) == 2
            assert "docs/3.md" not in await world.pages()


async def test_a_copy_of_a_signed_delivery_under_another_name_is_still_the_same(world: World) -> None:
    await world.add()
    names = ("1", "2", "")
    heard = [await post(world, "docs", x_rowen_delivery=name, x_github_delivery=name) for name in names]
    assert [one.verdict for one in heard] == [Verdict.QUEUED, Verdict.ALREADY_KNOWN, Verdict.ALREADY_KNOWN]


async def test_a_delivery_that_met_a_busy_store_is_not_taken_for_known_when_it_comes_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(world, "one", "https://github.com/acre/docs", "github")
    await add(world, "two", "git+https://github.com/acre/docs.git", "git")
    store = world.store
    stored = store.request_by_delivery
    calls = 0

    async def busy_once(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreBusy("the store is busy")
        return await stored(*args, **named)

    monkeypatch.setattr(store, "request_by_delivery", busy_once)
    bell = Bell()
    with pytest.raises(StoreBusy):
        await github(world, a_push(), bell=bell)
    assert (set(await wishes(world)), bell.rung) == ({"one"}, 1)
    again = await github(world, a_push(), bell=bell)
    assert [one.source for one in again.queued] == ["two"]
    assert set(await wishes(world)) == {"one", "two"}


async def test_half_a_character_in_a_delivery_is_refused_and_not_a_bug(world: World) -> None:
    await world.add()
    with pytest.raises(UserError, match="half a character"):
        await post(world, "docs", rb'{"urls": ["/\ud800"]}')
    await add(world, "repository", "https://github.com/acre/docs", "github")
    await github(world, a_push(commits=[{**COMMIT, "modified": ["docs/\udc00.md"]}]))
    assert await wishes(world) == {"repository": None}


async def test_a_hook_for_a_paused_source_says_so(world: World) -> None:
    source = await world.add()
    await world.store.set_paused(source.id, True)
    (queued,) = (await post(world, "docs")).queued
    assert queued.paused
