"""`/docs`: the description of the API for people."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from rowen.doors.rest.reference import page


def router(described: Callable[[], dict[str, Any]]) -> APIRouter:
    api = APIRouter(include_in_schema=False)
    style = resources.files(page.__package__ or "").joinpath("style.css").read_text("utf-8")

    @api.get("/docs")
    async def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(page.render(described(), url=str(request.base_url).rstrip("/")))

    @api.get(page.STYLE)
    async def docs_style() -> Response:
        return Response(style, media_type="text/css")

    return api
