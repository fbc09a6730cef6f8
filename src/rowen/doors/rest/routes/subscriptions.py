"""Subscriptions: who is told when the answer to one thing changes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from rowen.core.safety.access import Scope
from rowen.doors.rest import models
from rowen.doors.rest.operation import PREFIX, answers, operations
from rowen.doors.shapes import subscriptions as shapes
from rowen.engine.ports import Ports
from rowen.managing.find import find_all
from rowen.service.subscriptions import subscribing

Name = Annotated[str, Path(description="Of a subscription", min_length=1, max_length=64, examples=["gather"])]


def router(ports: Ports) -> APIRouter:
    api = operations("/subscriptions", "subscriptions")

    @api.get(
        "",
        summary="Every subscription, what it is about and how often its answer changed",
        **answers(shapes.Subscriptions),
    )
    async def list_subscriptions() -> Any:
        return shapes.Subscriptions.show(subscriptions=await subscribing.subscriptions(ports.store))

    @api.post(
        "",
        summary="Be told when one answer changes",
        status_code=201,
        **answers(shapes.Subscription, 400, 404, 409, 413, 502, 504, scope=Scope.ADMIN),
    )
    async def subscribe(new: models.NewSubscription, response: Response) -> Any:
        """One signed message for each change, after readers see it; none for a sync without news. A private,
        loopback or link-local address is told nothing; variables that `url` or `secret` refer to must be
        named in `service.allowed_variables`.
        """
        await find_all(ports.store, new.sources)
        settings = new.model_dump(include={"url", "path", "heading", "symbol", "question", "secret"})
        made = await subscribing.subscribe(
            ports, name=new.name, sources=new.sources, settings=settings, over_network=True
        )
        response.headers["Location"] = f"{PREFIX}/subscriptions/{made.name}"
        return shapes.Subscription.show(made)

    @api.get("/{subscription}", summary="One subscription", **answers(shapes.Subscription, 404))
    async def get_subscription(subscription: Name) -> Any:
        return shapes.Subscription.show(await subscribing.find(ports.store, subscription))

    @api.delete(
        "/{subscription}",
        summary="Stop telling the receiver",
        **answers(shapes.Unsubscribed, 404, scope=Scope.ADMIN),
    )
    async def unsubscribe(subscription: Name) -> Any:
        await subscribing.unsubscribe(ports.store, subscription)
        return shapes.Unsubscribed.show(removed=subscription)

    return api
