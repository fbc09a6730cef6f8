"""Subscriptions as every door shows them; `${VARIABLE}` in an address is shown as it was given."""

from __future__ import annotations

from rowen.core.exchange.sink import Sink
from rowen.doors.shapes.shape import Shape, Time, at
from rowen.service.subscriptions.sink import ANSWER, NUMBER, PENDING, asked


def _asks(sink: Sink) -> dict[str, str]:
    way, wanted = asked(sink.settings)
    return {way: wanted}


class Subscription(Shape):
    subscription: str = at("name")
    asks: dict[str, str] = at(_asks)
    """What it is about: a `path`, a `heading`, a `symbol` or a `question`"""
    sources: list[str] = at(lambda sink: sink.settings.get("sources", ()))
    """Only of these; all if empty"""
    tells: str = at(lambda sink: sink.settings.get("url") or sink.settings.get("file"))
    """The address that messages are posted to, or the file"""
    entries: int = at(lambda sink: len(sink.state.get(ANSWER, ())))
    """How many places answer it now"""
    messages: int = at(lambda sink: sink.state.get(NUMBER, 0))
    """How often its answer changed"""
    pending: bool = at(lambda sink: PENDING in sink.state)
    """A message is on its way"""
    last_success_at: Time | None
    error: str | None = at("last_error")


class Subscriptions(Shape):
    subscriptions: list[Subscription]


class Unsubscribed(Shape):
    removed: str
    """The name of the subscription"""
