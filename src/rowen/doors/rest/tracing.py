"""Spans for OpenTelemetry, when `service.otel` is set: around requests by the framework, around runs here.

Only the API of OpenTelemetry is used: an SDK in the process decides where spans go.
Without one, and by default, nothing is recorded and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace

from rowen.core.source import Source
from rowen.engine.receipt import Receipt
from rowen.service.sync_queue import SyncQueue

NAME = "rowen"


def telemetry(*, enabled: bool, provider: trace.TracerProvider | None = None) -> dict[str, Any]:
    """For the framework: requests as spans or nothing at all; figures and logs have doors of their own."""
    return {
        "tracing": enabled,
        "tracer_provider": provider,
        "metrics": False,
        "logs": False,
        "operation_spans": False,
        "auto_configure": False,
    }


def trace_runs(queue: SyncQueue, *, provider: trace.TracerProvider | None = None) -> None:
    """A span for each run, with its source while it lasts and its outcome at the end."""
    tracer = trace.get_tracer(NAME, tracer_provider=provider)
    told = queue.on_result

    @contextmanager
    def around(source: Source) -> Iterator[None]:
        with tracer.start_as_current_span("run", attributes={"rowen.source": source.label}):
            yield

    def on_result(receipt: Receipt) -> None:
        span = trace.get_current_span()
        span.set_attribute("rowen.run_id", receipt.run_id)
        span.set_attribute("rowen.status", receipt.status.value)
        told(receipt)

    queue.around, queue.on_result = around, on_result
