"""For machines: health, figures, logs; and the description of the API itself."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from rowen.core.safety.access import Scope
from rowen.doors.rest import logs
from rowen.doors.rest.models import model
from rowen.doors.rest.routes import health
from rowen.doors.shapes import documents, runs, sources
from rowen.doors.shapes.shape import Shape
from tests.doors.rest.conftest import Api
from tests.support.site import html

pytestmark = pytest.mark.anyio


async def test_it_is_alive_and_ready(api: Api) -> None:
    for path in ("/health/live", "/health/ready"):
        answer = await api.get(path)
        assert (answer.status, answer.json) == (200, {"status": "ok"})


async def test_a_database_that_is_away_is_told_in_time_and_not_called_busy(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = asyncio.Event()

    async def waits() -> None:
        await back.wait()

    monkeypatch.setattr(health, "READY_WITHIN_S", 0.01)
    monkeypatch.setattr(api.world.store, "sources", waits)
    answer = await api.get("/health/ready")
    assert answer.is_problem(503, "store_unreachable")
    assert (answer.json["detail"], answer.headers["Retry-After"]) == (
        "the database of the store does not answer",
        "1",
    )


async def test_figures_tell_of_sources_documents_runs_requests_and_handoffs(harvested: Api) -> None:
    harvested.world.site.set("/rye", html("Rye", "entirely new"))
    await harvested.post("/scraping/docs/sync")
    await harvested.get("/api/v1/nonsense")
    text = (await harvested.get("/metrics")).text
    for line in (
        'rowen_sources{state="SUCCESS"} 1.0',
        'rowen_sources{state="ERROR"} 0.0',
        "rowen_documents 3.0",
        'rowen_runs_total{status="completed"} 2.0',
        'rowen_items_total{outcome="created"} 3.0',
        'rowen_items_total{outcome="updated"} 1.0',
        'rowen_handoffs{status="completed"} 4.0',
        'rowen_handoffs{status="queued"} 0.0',
        'rowen_http_requests_total{method="POST",operation="sync_scraping_source",status="200"} 1.0',
        'rowen_http_requests_total{method="GET",operation="none",status="404"} 1.0',
    ):
        assert line in text.splitlines(), line
    for counter in ("runs", "items", "source_requests", "source_bytes", "embeddings_computed"):
        assert re.search(rf"^# HELP rowen_{counter}_total .*in this process", text, re.MULTILINE), counter
    assert "rowen_http_request_seconds_bucket" in text
    (embedded,) = re.findall(r"^rowen_embeddings_computed_total (\S+)$", text, re.MULTILINE)
    assert float(embedded) > 0
    for private in (harvested.world.site.url, "docs", "nonsense", "/rye"):
        assert private not in text, "figures have no labels that grow with what is stored or asked"


async def test_a_method_that_somebody_invents_is_no_label(api: Api) -> None:
    await api.ask("BREW", "/api/v1/sources")
    assert 'method="other"' in (await api.get("/metrics")).text
    assert "BREW" not in (await api.get("/metrics")).text


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logs.configure("json", stream=stream)
    yield stream
    logs.restore(handler)


async def test_a_request_and_a_run_leave_one_line_each_and_no_secret(api: Api, log: io.StringIO) -> None:
    headers = await api.token(Scope.SYNC)
    await api.post("/scraping/docs/sync?full=true", headers={**headers, "X-Request-ID": "abc"})
    await api.get("/health/live")
    run, request = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (run["event"], run["source"], run["run_id"], run["status"]) == ("run", "docs", 1, "completed")
    assert (request["event"], request["path"], request["status"]) == ("request", "/scraping/docs/sync", 200)
    assert (request["request_id"], request["caller"], request["level"]) == ("abc", "sync", "info")
    assert headers["Authorization"].removeprefix("Bearer ") not in log.getvalue()
    assert "full" not in log.getvalue()


def test_lines_for_people_stay_lines() -> None:
    stream = io.StringIO()
    handler = logs.configure("human", stream=stream)
    try:
        logs.event(logging.getLogger("rowen.x"), "request", path="/a\n12:00:00 forged", caller=None)
        logging.getLogger("rowen.x").warning("alarm_failed about=%s", "docs")
    finally:
        logs.restore(handler)
    first, second = stream.getvalue().splitlines()
    assert first.endswith("request path='/a\\n12:00:00 forged' caller=None")
    assert second.endswith("warning alarm_failed about=docs")


def test_a_traceback_stays_in_its_line_of_json() -> None:
    stream = io.StringIO()
    handler = logs.configure("json", stream=stream)
    try:
        try:
            raise ValueError("x")
        except ValueError:
            logging.getLogger("rowen.x").exception("bug")
    finally:
        logs.restore(handler)
    (line,) = stream.getvalue().splitlines()
    assert "ValueError: x" in json.loads(line)["traceback"]


async def test_every_field_that_is_shown_is_described_and_nothing_else(
    harvested: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field that a model did not have would be dropped without an error."""
    shown: dict[type[Shape], set[str]] = {}
    original = Shape.show.__func__  # type: ignore[attr-defined]

    def spy(cls: type[Shape], *values: Any, **given: Any) -> dict[str, Any]:
        made: dict[str, Any] = original(cls, *values, **given)
        shown.setdefault(cls, set()).update(made)
        return made

    monkeypatch.setattr(Shape, "show", classmethod(spy))
    harvested.world.site.set("/rye", html("Rye", "entirely new"))
    for method, path in (
        ("POST", "/scraping/docs/sync"),
        ("GET", "/api/v1/sources/docs"),
        ("GET", "/api/v1/runs/1"),
        ("GET", "/api/v1/runs/1/items"),
        ("GET", "/api/v1/sources/docs/generations"),
        ("GET", "/api/v1/sources/docs/diff"),
        ("GET", "/api/v1/handoffs"),
        ("GET", "/api/v1/search?q=barley"),
        ("GET", "/api/v1/documents/1"),
        ("GET", "/api/v1/changes"),
    ):
        assert (await harvested.ask(method, path)).status == 200, path
    for shape in (
        sources.Source,
        runs.Receipt,
        runs.Run,
        runs.Item,
        sources.Generation,
        sources.Diff,
    ):
        assert shape in shown
    for shape in (
        sources.Change,
        runs.Handoff,
        documents.Hit,
        documents.WholeDocument,
        documents.Section,
    ):
        assert shape in shown
    for shape, names in shown.items():
        assert names == set(model(shape).model_fields), shape


async def test_the_description_is_complete(api: Api) -> None:
    schema = (await api.get("/openapi.json")).json
    operations = [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(ids) == len(set(ids))
    for path, method, operation in operations:
        assert operation["summary"], path
        assert operation["tags"], path
        refusals = {status for status in operation["responses"] if status >= "4"}
        if not path.startswith(("/health", "/webhooks")):
            assert refusals >= {"401", "403", "422", "429", "500", "503"}, (path, method)
            assert operation["security"] == [{"token": []}], path
        for status in refusals:
            (media_type,) = operation["responses"][status]["content"]
            assert media_type == "application/problem+json", (path, status)
    assert {"/scraping/{source}/sync", "/scraping/{source}/handoffs"} <= set(schema["paths"])
