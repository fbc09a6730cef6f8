"""`/docs` and the headers of every answer: nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from rowen.doors.rest.reference import page
from tests.doors.rest.conftest import Api, serving
from tests.support.world import World

pytestmark = pytest.mark.anyio


class _Page(HTMLParser):
    """Which tags a page has, where it leads, and which places it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: set[str] = set()
        self.ids: list[str] = []
        self.inline = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("href", "src", "action"):
                self.links.add(value or "")
            if name == "id":
                self.ids.append(value or "")
            self.inline = self.inline or name == "style" or name.startswith("on")


async def test_the_page_of_the_api_has_every_operation_and_loads_nothing_from_elsewhere(api: Api) -> None:
    answer = await api.get("/docs", headers={"Host": "localhost"})
    shown = _Page(answer.text)
    assert answer.headers["Content-Type"].startswith("text/html")
    assert shown.tags.isdisjoint({"script", "style", "iframe", "img", "object", "form"})
    assert not shown.inline
    assert {link for link in shown.links if not link.startswith("#")} == {page.STYLE, "/openapi.json"}
    assert len(shown.ids) == len(set(shown.ids))
    assert {link[1:] for link in shown.links if link.startswith("#")} <= set(shown.ids)
    style = await api.get(page.STYLE)
    assert (style.status, style.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert not re.search(r"url\(|@import", style.text)
    document = (await api.get("/openapi.json")).json
    for path, methods in document["paths"].items():
        assert f"<code>{path}</code>" in answer.text
        for operation in methods.values():
            assert operation["operationId"] in shown.ids
            assert all(
                f"<code>{one['name']}</code>" in answer.text for one in operation.get("parameters", ())
            )
    assert {f"shape-{name}" for name in document["components"]["schemas"]} <= set(shown.ids)
    assert "curl -X POST 'http://localhost/api/v1/sources/docs/sync'" in answer.text.replace("&#x27;", "'")
    assert "Needs a token with scope <code>sync</code>" in answer.text


def test_text_of_the_description_is_text() -> None:
    operation = {"operationId": "x", "tags": ["t"], "summary": "<script>alert(1)</script>", "responses": {}}
    document = {
        "info": {"title": "<b>", "version": '"'},
        "tags": [{"name": "t"}],
        "paths": {"/<i>": {"get": operation}},
        "components": {"schemas": {}},
    }
    text = page.render(document, url="http://<u>'")
    for foreign in ("<script", "<b>&", "/<i>", "<u>"):
        assert foreign not in text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("HEAD", "/health/live"),
        ("GET", "/api/v1/sources"),
        ("GET", "/nothing"),
        ("POST", "/docs"),
        ("POST", "/webhooks/docs"),
        ("GET", "/metrics"),
        ("GET", "/odd/page"),
    ],
)
async def test_every_answer_says_that_nothing_from_elsewhere_may_be_loaded(
    world: World, method: str, path: str
) -> None:
    async def broken(scope: object, receive: object, send: object) -> None:
        raise ZeroDivisionError

    async with serving(world, mounts={"/odd": broken}) as api:
        headers = (await api.ask(method, path)).headers
    policy = dict(one.split(" ", 1) for one in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
