"""Lists of catalogues, SPARQL endpoints that cut rows, SDMX in several languages, udata."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.errors import Unparseable
from rowen.kinds.api.datasets import catalogue_list, sdmx, sparql
from tests.support.portals.catalogues import CatalogueList, Sdmx, Udata
from tests.support.portals.skeleton import Reply
from tests.support.portals.sparql import Endpoint
from tests.support.portals.trying import a_source_of, metadata, visible

pytestmark = pytest.mark.anyio


class OneBroken(CatalogueList):
    broken = False

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if self.broken and path.startswith("/c1/"):
            return Reply("<html>moved</html>", 200, "text/html")
        return super().answer(path, params, base)


async def test_one_broken_catalogue_of_a_list_leaves_the_others_and_deletes_nothing(tmp_path: Path) -> None:
    portal = OneBroken(30)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        names = await visible(world)
        # The same identifier in three catalogues is three datasets.
        assert (len(names), len({one.partition("#")[2] for one in names})) == (30, 10)
        portal.broken = True
        portal.records["dcat_list-0025"].text = "Another text"
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
        assert (receipt.counters.updated, receipt.counters.deleted) == (1, 0)
        assert await visible(world) == names


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('["https://a.example/data.json", "/b.json"]', ["https://a.example/data.json", "/b.json"]),
        ('{"portals": [{"url": "https://a.example/d"}]}', ["https://a.example/d"]),
        ("https://a.example/d\n# b\n\nhttps://c.example/d\n", ["https://a.example/d", "https://c.example/d"]),
    ],
)
def test_a_list_may_be_addresses_objects_or_lines(body: str, found: list[str]) -> None:
    answer = catalogue_list.read(body.encode(), content_type="", url="https://list.example/l")
    assert answer == {"dataset": [], "next": found}


async def test_an_endpoint_that_cuts_rows_loses_no_dataset_and_no_property(tmp_path: Path) -> None:
    portal = Endpoint(30)
    portal.most = 3
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 30)
        for name in await visible(world):
            found = await metadata(world, name)
            assert (found["publisher"], found["tags"]) == ("City", ["rivers", "water"])
            assert found["resources"] == [{"name": "Table", "url": f"{name}.csv"}]


def test_a_dataset_that_never_comes_whole_is_an_error() -> None:
    term = {"type": "uri", "value": "https://a.example/1"}
    row = {"dataset": term, "n": {"type": "literal", "value": "9"}, "p": term, "o": term}
    body = json.dumps({"results": {"bindings": [row]}}).encode()
    with pytest.raises(Unparseable, match="cuts its answers"):
        sparql.read(body, content_type="", url="https://a.example/sparql")


def test_texts_of_sdmx_keep_their_languages() -> None:
    body = (
        b'<m:Structure xmlns:m="m"><m:Structures><Dataflows><Dataflow id="A" agencyID="B" version="1.0">'
        b'<Name xml:lang="en">Births</Name><Name xml:lang="fr">Naissances</Name></Dataflow></Dataflows>'
        b"</m:Structures></m:Structure>"
    )
    flow = sdmx.read(body, content_type="", url="https://a.example")["dataflows"][0]
    assert (flow["names"], flow["agencyID"]) == ({"en": "Births", "fr": "Naissances"}, "B")
    with pytest.raises(Unparseable, match="no dataflows"):
        sdmx.read(b'{"data": {}}', content_type="", url="https://a.example")


async def test_a_dataflow_is_named_by_its_agency(tmp_path: Path) -> None:
    async with a_source_of(Sdmx(1), tmp_path) as world:
        await world.sync("data")
        assert await visible(world) == {"OFFICE:sdmx-0000"}


async def test_udata_is_read_by_pages_and_a_full_last_page_ends_at_its_404(tmp_path: Path) -> None:
    portal = Udata(200)
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, len(portal.asked)) == (RunStatus.COMPLETED, 200, 3)
        found = await metadata(world, "udata-0000")
        assert (found["organization"], found["license"], found["formats"]) == ("Ministry", "lov2", ["CSV"])
