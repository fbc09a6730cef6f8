"""Who gets in: nobody without a token once there is one, forms only with their key, readers without
actions.
"""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest

from rowen.core.safety.access import Scope
from rowen.doors.sessions import COOKIE, LIFE
from tests.doors.web.conftest import Person

pytestmark = pytest.mark.anyio


def cookie_of(headers: object) -> SimpleCookie:
    return SimpleCookie(", ".join(headers.getall("Set-Cookie")))  # type: ignore[attr-defined]


async def test_without_tokens_this_machine_is_let_in(person: Person) -> None:
    page = await person.get("/")
    assert page.status == 200 and "docs" in page.words
    assert "Sign out" not in page.text


async def test_with_a_token_everybody_signs_in_first(person: Person) -> None:
    secret = await person.token(Scope.ADMIN, "ops")
    page = await person.get("/sources/docs")
    assert page.status == 401 and "Sign in" in page.words and "docs.example" not in page.text
    assert (await person.get("/sources/docs.json")).status == 401
    inside = await person.send(page, "/signin", token=secret)
    assert inside.status == 200 and inside.url.endswith("/sources/docs")
    assert "Sign out (ops)" in inside.text


async def test_the_cookie_is_for_this_site_and_not_for_scripts(person: Person) -> None:
    page = await person.get("/")
    made = cookie_of(page.headers)[COOKIE]
    assert made["httponly"] and made["samesite"] == "strict" and made["path"] == "/" and not made["secure"]
    await person.token(Scope.READ)
    person.session.cookie_jar.clear()
    elsewhere = await person.ask("GET", "/", headers={"Host": "rowen.example.org"})
    assert cookie_of(elsewhere.headers)[COOKIE]["secure"]


async def test_off_this_machine_without_tls_the_page_says_that_no_session_is_kept(person: Person) -> None:
    await person.token(Scope.READ)
    page = await person.ask("GET", "/", headers={"Host": "rowen.example.org"})
    assert page.status == 401 and "your browser will not keep the session" in page.words


async def test_an_unknown_token_is_said_to_be_unknown(person: Person) -> None:
    await person.token(Scope.ADMIN)
    page = await person.sign_in("rowen_other")
    assert page.status == 403 and "not known here" in page.words


async def test_a_session_ends_with_its_token(person: Person) -> None:
    await person.token(Scope.ADMIN, "other")
    await person.sign_in(await person.token(Scope.READ, "guest"))
    assert (await person.get("/")).status == 200
    await person.world.store.remove_token("guest")
    assert (await person.get("/")).status == 401


async def test_a_session_ends_after_its_time(person: Person) -> None:
    await person.sign_in(await person.token(Scope.READ))
    person.world.clock.advance(LIFE.total_seconds() - 60)
    assert (await person.get("/")).status == 200
    person.world.clock.advance(120)
    assert (await person.get("/")).status == 401


async def test_signing_out_ends_the_session(person: Person) -> None:
    inside = await person.sign_in(await person.token(Scope.READ))
    assert (await person.send(inside, "/signout")).status == 401
    assert (await person.get("/")).status == 401


async def test_the_cookie_of_a_session_opens_the_page_and_not_the_api(person: Person) -> None:
    await person.sign_in(await person.token(Scope.ADMIN))
    assert (await person.get("/")).status == 200
    assert (await person.get("/api/v1/sources")).status == 401


@pytest.mark.parametrize(
    "to", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:1"]
)
async def test_signing_in_never_leads_to_another_site(person: Person, to: str) -> None:
    secret = await person.token(Scope.READ)
    page = await person.get("/")
    inside = await person.send(page, "/signin", token=secret, to=to)
    assert inside.url == f"{person.url}/"


async def test_a_form_needs_the_key_of_the_session(person: Person) -> None:
    page = await person.get("/sources/docs")
    for key in ("", "0" * 64):
        refused = await person.send(page, "/sources/docs/pause", key=key)
        assert refused.status == 403 and "older than your session" in refused.words
    assert not (await person.world.source()).paused


@pytest.mark.parametrize("origin", [None, "https://evil.example", "null"])
async def test_a_form_of_another_origin_changes_nothing(person: Person, origin: str | None) -> None:
    page = await person.get("/sources/docs")
    fields = page.fields("/sources/docs/pause")
    headers = {"Origin": origin} if origin else {}
    refused = await person.ask("POST", "/sources/docs/pause", data=fields, headers=headers)
    assert refused.status == 403 and "another origin" in refused.words
    assert not (await person.world.source()).paused


async def test_a_reader_sees_no_actions_and_may_do_nothing(reader: Person) -> None:
    await reader.sign_in(await reader.token(Scope.READ))
    for address in ("/", "/sources/docs", "/sources/docs/runs/1", "/handoffs"):
        page = await reader.get(address)
        assert page.status == 200
        assert page.text.count('method="post"') == 1, "only the form that signs out"
        assert "Add a source" not in page.text and "Settings</a></nav>" not in page.text
    key = (await reader.get("/")).fields("/signout")["key"]
    headers = {"Origin": reader.url}
    for action in ("sync", "pause", "remove", "approve", "rollback", "cancel"):
        answer = await reader.ask("POST", f"/sources/docs/{action}", data={"key": key}, headers=headers)
        assert answer.status == 403 and "needs a token with scope" in answer.words
    assert (await reader.get("/settings")).status == 403
    assert (await reader.get("/add")).status == 403


async def test_a_token_that_may_sync_may_not_remove(reader: Person) -> None:
    await reader.sign_in(await reader.token(Scope.SYNC))
    page = await reader.get("/sources/docs")
    assert "/sources/docs/sync" in page.text and "/sources/docs/remove" not in page.text


async def test_every_answer_has_the_policy_and_tells_other_sites_nothing(reader: Person) -> None:
    for address in ("/", "/nowhere", "/search?q=rye", "/assets/x/rowen.css", "/sources.json"):
        headers = (await reader.get(address)).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] in ("same-origin", "no-referrer")
