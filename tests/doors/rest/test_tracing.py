"""Spans around requests and runs, for whoever brings a place to send them to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import INVALID_SPAN_CONTEXT, NonRecordingSpan, Span, Tracer, TracerProvider

from rowen.doors.rest import tracing
from rowen.service.sync_queue import SyncQueue
from tests.doors.rest.conftest import serving
from tests.support.site import html
from tests.support.world import World

pytestmark = pytest.mark.anyio


class FakeSpan(NonRecordingSpan):
    def __init__(self, name: str, attributes: Any) -> None:
        super().__init__(INVALID_SPAN_CONTEXT)
        self.name = name
        self.seen: dict[str, Any] = dict(attributes or {})
        self.ended = False

    def set_attribute(self, key: str, value: Any) -> None:
        self.seen[key] = value

    def set_attributes(self, attributes: Any) -> None:
        self.seen.update(attributes)

    def is_recording(self) -> bool:
        return True

    def end(self, end_time: int | None = None) -> None:
        self.ended = True


class FakeProvider(TracerProvider, Tracer):
    def __init__(self) -> None:
        self.spans: list[FakeSpan] = []

    def get_tracer(self, *_: Any, **__: Any) -> Tracer:
        return self

    def start_span(self, name: str, *_: Any, attributes: Any = None, **__: Any) -> Span:
        self.spans.append(FakeSpan(name, attributes))
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(self, name: str, *_: Any, attributes: Any = None, **__: Any) -> Iterator[Span]:  # type: ignore[override]
        span = self.start_span(name, attributes=attributes)
        with trace.use_span(span, end_on_exit=True):
            yield span


async def test_a_run_is_a_span_with_its_source_and_outcome(world: World) -> None:
    provider, told = FakeProvider(), []
    async with SyncQueue(world.ports) as queue:
        queue.on_result = told.append
        tracing.trace_runs(queue, provider=provider)
        await queue.sync(await world.add())
    (span,) = provider.spans
    assert (span.name, span.ended) == ("run", True)
    assert span.seen == {"rowen.source": "docs", "rowen.run_id": 1, "rowen.status": "completed"}
    assert len(told) == 1


async def test_a_request_is_a_span_when_the_operator_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = FakeProvider()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    world.site.set("/", html("Home", "barley"))
    for otel in (False, True):
        async with serving(world, otel=otel) as api:
            assert (await api.get("/api/v1/sources", headers={"Authorization": ""})).status == 200
        assert bool(provider.spans) is otel
    (span,) = provider.spans
    assert span.ended
    assert span.seen["url.path"] == "/api/v1/sources"
