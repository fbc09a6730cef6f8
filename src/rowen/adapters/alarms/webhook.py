"""Post the alarm as JSON, signed like the deliveries of a webhook sink.

The address may be a secret itself (chat services hand out such), so messages name the channel instead.
"""

from __future__ import annotations

import json

from rowen.core.exchange import delivery
from rowen.core.exchange.alarm import Alarm
from rowen.errors import PermanentError, RowenError, ServerFailed, TransientError
from rowen.ports.alarms import Route
from rowen.ports.fetcher import FetcherOptions, OpenFetcher, Request

TIMEOUT_S = 10.0


async def deliver(route: Route, alarm: Alarm, open_fetcher: OpenFetcher, *, user_agent: str) -> None:
    url = route.settings["url"]
    # `text` is what chat services show.
    content = json.dumps({"text": alarm.text, **alarm.as_dict()}).encode()
    timestamp = str(int(alarm.at.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "X-Rowen-Event": "alarm",
        "X-Rowen-Timestamp": timestamp,
    }
    if route.settings.get("secret"):
        headers["X-Rowen-Signature"] = delivery.signature(route.settings["secret"], timestamp, content)
    request = Request(
        url, headers=headers, method="POST", body=content, wanted=lambda status, received: False
    )
    options = FetcherOptions(
        typed_location=url,
        user_agent=user_agent,
        connections=1,
        timeout_s=route.settings.get("timeout_s", TIMEOUT_S),
    )
    where = f"alarm channel `{route.name}`"
    try:
        async with open_fetcher(options) as fetcher:
            response = await fetcher.fetch(request)
    except RowenError as exc:
        kind = TransientError if isinstance(exc, TransientError) else PermanentError
        # Not chained: the cause names the address.
        raise kind(f"{where}: the alarm did not arrive ({exc.reason})") from None
    if 200 <= response.status < 300:
        return
    message = f"{where}: {response.status} from the receiver"
    if response.status >= 500 or response.status == 429:
        raise ServerFailed(message, status=response.status)
    raise PermanentError(message, status=response.status)
