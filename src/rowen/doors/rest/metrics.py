"""Figures for Prometheus: what this process did, and what the store holds.

Labels have few values: operations, states, outcomes. No addresses, no names of sources.
"""

from __future__ import annotations

from collections import Counter as Tally

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

from rowen.core.document import Outcome
from rowen.core.handoff import HandoffStatus
from rowen.core.source import Status
from rowen.engine.receipt import Receipt
from rowen.ports.clock import Clock
from rowen.ports.store.store import Store

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FRESH_S = 10.0
"""Counting costs; a caller that asks more often gets the last count."""
OUTCOMES = ("completed", "capped", "partial", "held", "failed", "cancelled", "interrupted")
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)


class Metrics:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._counted_at: float | None = None
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "rowen_http_requests", "Requests answered", ["operation", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "rowen_http_request_seconds",
            "How long answers took",
            ["operation"],
            registry=registry,
            buckets=_BUCKETS,
        )
        self._runs = Counter("rowen_runs", "Runs ended in this process", ["status"], registry=registry)
        self._items = Counter(
            "rowen_items", "Items of the runs in this process", ["outcome"], registry=registry
        )
        self._asked = Counter(
            "rowen_source_requests",
            "Requests that the runs in this process made to sources",
            registry=registry,
        )
        self._bytes = Counter(
            "rowen_source_bytes", "Bytes of bodies that the runs in this process received", registry=registry
        )
        self._avoided = Counter(
            "rowen_source_bytes_avoided",
            "Bytes of bodies that were not sent again to the runs in this process",
            registry=registry,
        )
        self._embedded = Counter(
            "rowen_embeddings_computed", "Texts that the runs in this process embedded", registry=registry
        )
        self._sources = Gauge("rowen_sources", "Sources", ["state"], registry=registry)
        self._outcomes = Gauge(
            "rowen_sources_last_run", "Sources by how their last run ended", ["outcome"], registry=registry
        )
        self._failed = Gauge(
            "rowen_sources_failed_items",
            "Items that failed in the last runs of all sources",
            registry=registry,
        )
        self._paused = Gauge("rowen_sources_paused", "Sources that are paused", registry=registry)
        self._documents = Gauge("rowen_documents", "Documents that readers see", registry=registry)
        self._handoffs = Gauge("rowen_handoffs", "Handoffs by state", ["status"], registry=registry)

    def answered(self, *, operation: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(operation, method, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def ended(self, receipt: Receipt) -> None:
        self._runs.labels(receipt.result.state).inc()
        counters = receipt.counters
        for outcome in Outcome:
            self._items.labels(outcome.value).inc(getattr(counters, outcome.value))
        self._asked.inc(counters.requests)
        self._bytes.inc(counters.bytes_received)
        self._avoided.inc(counters.bytes_avoided)
        self._embedded.inc(counters.embeddings_computed)

    async def text(self) -> bytes:
        now = self._clock.monotonic()
        if self._counted_at is None or now - self._counted_at >= FRESH_S:
            await self._count()
            self._counted_at = now
        return generate_latest(self._registry)

    async def _count(self) -> None:
        store = self._store
        sources = await store.sources()
        states = Tally(source.status for source in sources)
        for state in Status:
            self._sources.labels(state.value).set(states[state])
        results = [source.result for source in sources if source.result is not None]
        ended = Tally(result.state for result in results)
        for outcome in OUTCOMES:
            self._outcomes.labels(outcome).set(ended[outcome])
        self._failed.set(sum(result.failed for result in results))
        self._paused.set(sum(source.paused for source in sources))
        # As each generation wrote it down: counting them would read every text of the store.
        shown = [one for source in sources for one in await store.generations(source.id) if one.active]
        self._documents.set(sum(one.documents for one in shown))
        handoffs: Tally[HandoffStatus] = Tally()
        for (status, _), count in (await store.handoff_counts()).items():
            handoffs[status] += count
        for status in HandoffStatus:
            self._handoffs.labels(status.value).set(handoffs[status])
