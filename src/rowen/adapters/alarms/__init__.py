"""Channels for alarms: a line in the log, a program, a web hook, an e-mail."""

from __future__ import annotations

from collections.abc import Mapping

from rowen.adapters.alarms import command, log, mail, webhook
from rowen.core.exchange.alarm import Alarm
from rowen.errors import ConfigError
from rowen.ports.alarms import Route
from rowen.ports.fetcher import OpenFetcher

__all__ = ["Deliveries"]


class Deliveries:
    """Delivers an alarm the way its route says."""

    def __init__(self, open_fetcher: OpenFetcher, environment: Mapping[str, str], *, user_agent: str) -> None:
        self._open_fetcher = open_fetcher
        self._environment = environment
        self._user_agent = user_agent

    async def __call__(self, route: Route, alarm: Alarm) -> None:
        match route.kind:
            case "log":
                log.deliver(alarm)
            case "command":
                await command.deliver(route, alarm, self._environment)
            case "webhook":
                await webhook.deliver(route, alarm, self._open_fetcher, user_agent=self._user_agent)
            case "email":
                await mail.deliver(route, alarm)
            case _:
                raise ConfigError(f"alarm channel `{route.name}`: no kind `{route.kind}`")
