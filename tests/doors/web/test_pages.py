"""Every page: complete HTML without scripts, the same data as JSON, and nothing of the source as markup."""

from __future__ import annotations

import pytest

from tests.doors.web.conftest import Person

pytestmark = pytest.mark.anyio

ADDRESSES = (
    "/",
    "/search",
    "/search?q=barley",
    "/sources/docs",
    "/sources/docs/runs/1",
    "/sources/docs/diff/0..1",
    "/sources/new",
    "/documents/1",
    "/documents/1?raw=1",
    "/handoffs",
    "/sinks",
    "/workers",
    "/settings",
)


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_page_is_whole_and_has_json_beside_it(reader: Person, address: str) -> None:
    page = await reader.get(address)
    assert page.status == 200, page.words
    path, _, query = address.partition("?")
    beside = "/sources.json" if path == "/" else f"{path}.json"
    data = await reader.get(f"{beside}?{query}")
    assert data.status == 200 and isinstance(data.json, dict)
