"""Stored times that lie in the future: a clock that was ahead wrote them, and they are not believed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from rowen.core.source import Source

SKEW = timedelta(minutes=5)
"""How far the clocks of two machines may differ before a time of one is not believed by the other."""


def is_ahead(moment: datetime, now: datetime, *, at_most_s: float = 0.0) -> bool:
    """Does a stored moment lie further in the future than `at_most_s` allows it to?"""
    return moment - now > timedelta(seconds=at_most_s) + SKEW


def believed(source: Source, now: datetime) -> Source:
    """The source as a run may believe it: without the times that lie in the future.

    In place of such a watermark stands the moment the source was added: changes since then are asked for
    once more, and none is missed.
    """
    began = min(source.created_at, now)
    watermark, processed = source.watermark, source.last_processed_date
    if watermark is not None and is_ahead(watermark, now):
        watermark = began if began < now else None
    if processed is not None and processed > (now + SKEW).date():
        processed = None
    return replace(source, created_at=began, watermark=watermark, last_processed_date=processed)
