"""Incoming web hooks: who may send them, which sources they concern, and the sync request they store.

A delivery fetches nothing and runs nothing: it stores a sync request, which joins the one that may wait
there, and wakes the loop of `rowen serve`. So a thousand deliveries are one run. The hooks of GitHub are
signed with the secret of the service; a source may have a secret and a hook of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import StrEnum

from rowen.core import params as parameters
from rowen.core.safety.secrets import Lookup, fill
from rowen.core.source import Source
from rowen.core.sync_request import PUSH, WEBHOOK, SyncRequest
from rowen.engine import confine
from rowen.engine.ports import Ports
from rowen.errors import ConfigError, UserError
from rowen.kinds.github import rules as github
from rowen.kinds.github.push_event import Push, read_push, repository_key
from rowen.ports.clock import Clock
from rowen.ports.store.access import Access
from rowen.records import dataclass
from rowen.service.hooks import rules as hooks
from rowen.service.hooks.rules import Delivery

SERVICE_SECRET = "ROWEN_WEBHOOK_SECRET"
"""The variable with the secret of every hook that has none of its own."""
GITHUB, SOURCE = "github", "source"
"""The hook of all repositories, and the hooks of single sources."""
REPOSITORIES = ("github", "git")

Wake = Callable[[], None]

_log = logging.getLogger("rowen.hooks")


class BadSignature(UserError):
    """The same words whether the signature is missing or wrong, and whether or not there is such a source."""

    reason = "bad_signature"

    @classmethod
    def now(cls) -> BadSignature:
        return cls("web hook: the signature is missing or wrong", hint="see docs/webhooks.md")


class Verdict(StrEnum):
    QUEUED = "queued"
    ALREADY_KNOWN = "already_known"
    """This delivery came before."""
    IGNORED = "ignored"
    PONG = "pong"
    """A sender tries out whether the hook answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Queued:
    source: str
    request: SyncRequest
    paused: bool
    """The request waits until the source is resumed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """What a delivery led to."""

    verdict: Verdict
    reason: str | None = None
    """Why it was ignored, in one word."""
    queued: tuple[Queued, ...] = ()

    @classmethod
    def ignored(cls, reason: str) -> Heard:
        return cls(verdict=Verdict.IGNORED, reason=reason)


async def hear_github(ports: Ports, delivery: Delivery, *, wake: Wake) -> Heard:
    """A delivery of GitHub about any repository. Raises `BadSignature`, or `UserError` for a bad body."""
    if not delivery.is_signed(_service_secret(ports.secrets), now=ports.clock.now()):
        raise BadSignature.now()
    sources = [one for one in await ports.store.sources() if one.kind in REPOSITORIES]
    return await _github(ports.store, ports.clock, delivery, sources, hook=GITHUB, wake=wake)


async def hear(ports: Ports, name: str, delivery: Delivery, *, wake: Wake) -> Heard:
    """A delivery for one source, from GitHub or signed by our own scheme. Raises like `hear_github`."""
    source = _named(await ports.store.sources(), name)
    # invariant: a source that does not exist takes the same steps, without a secret.
    secret = _secret(ports, source) if source else None
    if not delivery.is_signed(secret, now=ports.clock.now()) or source is None:
        raise BadSignature.now()
    if delivery.event is not None:
        return await _github(ports.store, ports.clock, delivery, [source], hook=SOURCE, wake=wake)
    only = hooks.named_references(delivery.json() if delivery.body.strip() else None)
    if only == ():
        return Heard.ignored("nothing_named")
    return await _queue(
        ports.store, ports.clock, delivery, [(source, only)], hook=SOURCE, reason=WEBHOOK, wake=wake
    )


def _named(sources: Sequence[Source], name: str) -> Source | None:
    """By its label, or by its name where that has one version."""
    labelled = [one for one in sources if one.label == name]
    found = labelled or [one for one in sources if one.name == name]
    return found[0] if len(found) == 1 else None


async def _github(
    store: Access, clock: Clock, delivery: Delivery, sources: Sequence[Source], *, hook: str, wake: Wake
) -> Heard:
    if delivery.event == "ping":
        return Heard(verdict=Verdict.PONG)
    if delivery.event != "push":
        return Heard.ignored("not_a_push")
    push = read_push(delivery.json())
    if push.branch is None:
        return Heard.ignored("tag")
    if push.deleted:
        return Heard.ignored("branch_deleted")
    concerned = [(source, within) for source in sources if (within := _mirrored(source, push)) is not None]
    if not concerned:
        return Heard.ignored("no_source")
    requests = [(source, push.references(within)) for source, within in concerned]
    requests = [(source, only) for source, only in requests if only != ()]
    if not requests:
        return Heard.ignored("nothing_of_the_source")
    return await _queue(store, clock, delivery, requests, hook=hook, reason=PUSH, wake=wake)


def _mirrored(source: Source, push: Push) -> str | None:
    """The path that a source mirrors of the pushed branch, empty for all of it; None when it is another."""
    if source.kind == "github" and (address := github.parse_address(source.location)):
        repository = repository_key(f"{address.site}/{address.repository}")
        branch, path = address.branch, address.path
    elif source.kind == "git":
        repository = repository_key(source.location)
        branch, path = source.params.get("branch") or None, str(source.params.get("path", ""))
    else:
        return None
    return path if repository in push.repositories and push.is_of(branch) else None


async def _queue(
    store: Access,
    clock: Clock,
    delivery: Delivery,
    requests: Sequence[tuple[Source, tuple[str, ...] | None]],
    *,
    hook: str,
    reason: str,
    wake: Wake,
) -> Heard:
    """Store a request for each source, once. A delivery is remembered by source, in the transaction of its
    request: one that broke off half-way goes on there when it is delivered again.
    """
    now = clock.now()
    name = delivery.name(now=now)
    queued: list[Queued] = []
    try:
        for source, only in requests:
            request = await store.request_by_delivery(
                f"{hook}:{source.id}", name, source.id, only=only, reason=reason, now=now
            )
            if request is not None:
                queued.append(Queued(source=source.label, request=request, paused=source.rests))
    finally:
        if queued:
            wake()
    if not queued:
        return Heard(verdict=Verdict.ALREADY_KNOWN)
    return Heard(verdict=Verdict.QUEUED, queued=tuple(queued))


def _service_secret(secrets: Lookup) -> str | None:
    return (secrets(SERVICE_SECRET) or "").strip() or None


def _secret(ports: Ports, source: Source) -> str | None:
    """A source's own secret, or the one of the service; None when its own cannot be had."""
    kind = ports.kinds.get(source.kind)
    own = parameters.complete(kind.params, source.params)["webhook_secret"] if kind else ""
    if not own:
        return _service_secret(ports.secrets)
    try:
        return fill("webhook_secret", own, confine.of_source(ports, source).secrets)
    except ConfigError as exc:
        _log.error("hook_without_secret source=%s error=%r", source.label, exc.message)
        return None
