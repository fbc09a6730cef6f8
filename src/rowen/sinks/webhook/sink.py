"""Tell another program what changed: signed deliveries, in order, each at least once.

The cursor moves when a delivery was taken, so nothing is lost. What was taken and could not be written down
is sent again, under the same name. The receiver gets states, not history: what readers see now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowen.core import params as parameters
from rowen.core.exchange import delivery
from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.feed import FeedItem
from rowen.core.lease import Lease
from rowen.core.rules.duration import Duration
from rowen.core.safety.secrets import fill, reference
from rowen.core.web import urls
from rowen.core.web.retry_after import retry_after_s
from rowen.engine.ports import Ports
from rowen.engine.sink_kind import Sent
from rowen.errors import PermanentError, RateLimited, RowenError, ServerFailed
from rowen.fetching import credentials
from rowen.ports.fetcher import Fetcher, FetcherOptions, Request, Response
from rowen.sinks import declared as sinks

PASSING_STATUSES = frozenset({408, 425})
"""Besides those of the server: the same delivery may be taken later."""


def _receiver(text: str) -> str:
    if "${" not in text:
        if urls.without_credentials(text) != text or urls.secret_parameter(text) is not None:
            raise ValueError("expected no secret in it, which would be stored in clear: write `${VARIABLE}`")
        if urls.normalise(text) is None:
            raise ValueError("expected an http or https address")
    return text


PARAMS = (
    sinks.START,
    sinks.setting(
        "url", "", _receiver, "Where deliveries are posted to; may hold `${VARIABLE}`", secret=True
    ),
    sinks.setting(
        "secret", "", reference, "Signs each delivery, by reference: '${HOOK_SECRET}'", secret=True
    ),
    sinks.setting("text", False, parameters.switch, "Also the text of each document"),
    sinks.setting(
        "batch", delivery.LARGEST, parameters.whole(1, delivery.LARGEST), "Changes in one delivery at most"
    ),
    sinks.setting("timeout_s", 10.0, Duration(0.1, 600, bare="s"), "Seconds for one delivery"),
    *(spec for spec in credentials.PARAMS if spec.name != "cookie"),
)


class Gone(PermanentError):
    """The receiver says that it will never take anything again."""

    reason = "gone"


def check(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    """The settings of such a sink. Raises `ConfigError`."""
    return sinks.checked(PARAMS, entry, needed="url")


async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    """Deliver everything after the sink's cursor. Raises what stopped it; what was taken stays taken."""
    settings = parameters.complete(PARAMS, sink.settings)
    # Before the sources are looked at: one that is shown for the first time after this is for the next time.
    end = await ports.store.feed_end()
    chosen = await sinks.chosen(ports.store, sink.settings)
    size = settings["batch"]
    page = await ports.store.feed(sink.cursor, **chosen, limit=size)
    if not page:
        return Sent(sent=0, cursor=end)
    sent, cursor = 0, sink.cursor
    receiver = Receiver(ports, sink.name, settings)
    async with ports.open_fetcher(receiver.options) as fetcher:
        while page:
            for batch in delivery.batches(page, size=size):
                sent += await receiver.deliver(fetcher, batch)
                # invariant: the cursor moves after the receiver has taken it, never before.
                cursor = batch[-1].cursor
                await ports.store.move_sink(
                    lease, sink.name, cursor=cursor, state=None, error=None, now=ports.clock.now()
                )
            page = await ports.store.feed(cursor, **chosen, limit=size)
    return Sent(sent=sent, cursor=max(cursor, end))


class Receiver:
    """Who takes signed posts, by the settings of a sink."""

    def __init__(self, ports: Ports, sink: str, settings: Mapping[str, Any]) -> None:
        self._ports = ports
        self._sink = sink
        self._text: bool = settings.get("text", False)
        self._shown: str = settings["url"]
        self._url = fill("url", self._shown, ports.secrets)
        self._secret = fill("secret", settings["secret"], ports.secrets) if settings["secret"] else ""
        self.options = FetcherOptions(
            # The operator's own list names it, so it may be a private address.
            typed_location=self._url,
            credentials=credentials.resolve(ports.secrets, settings, self._url),
            user_agent=ports.fetch.user_agent,
            connections=1,
            timeout_s=settings["timeout_s"],
        )

    async def deliver(self, fetcher: Fetcher, batch: Sequence[FeedItem]) -> int:
        changes = await self._changes(delivery.once_each(batch))
        last = batch[-1].cursor
        name = delivery.delivery_id(self._sink, batch[0].cursor, last, at=batch[0].at)
        content = delivery.body(sink=self._sink, delivery=name, cursor=last, changes=changes)
        await self.post(fetcher, content, name)
        return len(changes)

    async def _changes(self, items: Sequence[FeedItem]) -> list[dict[str, Any]]:
        changes = [delivery.change(item) for item in items]
        if self._text:
            # The items of a delivery are of one source.
            documents = await self._ports.store.documents(
                items[0].source_id, references=[item.reference for item in items], text=True
            )
            texts = {document.reference: document.text for document in documents}
            for one in changes:
                one["text"] = texts.get(one["reference"])
        return changes

    async def post(self, fetcher: Fetcher, content: bytes, name: str) -> None:
        """One body under a name by which the receiver recognises it. Raises what stopped it."""
        now = self._ports.clock.now()
        timestamp = str(int(now.timestamp()))
        headers = {
            "Content-Type": "application/json",
            "X-Rowen-Delivery": name,
            "X-Rowen-Timestamp": timestamp,
        }
        if self._secret:
            headers["X-Rowen-Signature"] = delivery.signature(self._secret, timestamp, content)
        request = Request(
            self._url,
            headers=headers,
            method="POST",
            body=content,
            wanted=_is_short,
        )
        try:
            response = await fetcher.fetch(request)
        except RowenError as exc:
            if self._url != self._shown:
                # The address holds a secret, and the message holds the address.
                exc.message = f"`{self._shown}`: the delivery did not arrive ({exc.reason})"
                exc.facts = {}
                raise exc from None
            raise
        self._check(response)

    def _check(self, response: Response) -> None:
        status = response.status
        if 200 <= status < 300:
            return
        said = f"`{self._shown}`: {status} from the receiver"
        wait_s = retry_after_s(response.headers, self._ports.clock.now())
        if status == 410:
            raise Gone(
                f"{said}: it is gone, and nothing is sent there any more",
                hint=f"change or remove the sink; `rowen announce {self._sink} --now` tries again",
                status=status,
            )
        if status == 429:
            raise RateLimited(said, retry_after_s=wait_s, status=status)
        if status >= 500 or status in PASSING_STATUSES:
            raise ServerFailed(said, retry_after_s=wait_s, status=status)
        hint = "set `url` to where it moved" if 300 <= status < 400 else "look at the sink's settings"
        raise PermanentError(f"{said}, so the delivery was not taken", hint=hint, status=status)


def _is_short(status: int, headers: Mapping[str, str]) -> bool:
    """Only the status counts. A short answer is read for the sake of the connection, which can go on then."""
    length = headers.get("content-length", "")
    return length.isascii() and length.isdigit() and len(length) <= 5
