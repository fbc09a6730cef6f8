"""udata, DKAN, a list of `data.json` files and SDMX dataflows, as each documents its answers."""

from __future__ import annotations

from typing import Any

from tests.support.portals.skeleton import Family, Record, Reply, as_json, as_xml, tag, txt


class Udata(Family):
    kind = "udata"
    generator = "udata"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if path == "/api/1/datasets/":
            page, size = int(params.get("page", 1)), min(int(params.get("page_size", 20)), self.most)
            rows = list(self.live.items())[(page - 1) * size : page * size]
            if not rows and page > 1:
                return as_json({"message": "The requested page is not there"}, 404)
            more = f"{base}/api/1/datasets/?page={page + 1}" if page * size < len(self.live) else None
            data = [self._dataset(name, one, base) for name, one in rows]
            return as_json(
                {"data": data, "page": page, "page_size": size, "total": self.total(), "next_page": more}
            )
        one = self.live.get(path.removeprefix("/api/1/datasets/").strip("/"))
        name = path.strip("/").rpartition("/")[2]
        return (
            as_json(self._dataset(name, one, base))
            if one
            else as_json({"message": "Dataset has been deleted"}, 410)
        )

    def _dataset(self, name: str, one: Record, base: str) -> dict[str, Any]:
        return {
            "id": name, "slug": f"slug-{name}", "title": one.title, "description": one.text, "deleted": None,
            "organization": {"name": "Ministry"}, "license": "lov2", "frequency": "daily", "tags": ["eau"],
            "created_at": "2020-01-01T00:00:00", "page": f"{base}/datasets/slug-{name}/", "spatial": None,
            "resources": [
                {"title": "Table", "url": f"{base}/{name}.csv", "format": "csv", "description": "Rows"}
            ],
        }  # fmt: skip


def dataset_of(name: str, one: Record, base: str) -> dict[str, Any]:
    """A dataset as `data.json` has it."""
    return {
        "@type": "dcat:Dataset", "identifier": name, "title": one.title, "description": one.text,
        "keyword": ["water"], "theme": ["Environment"], "accessLevel": "public", "modified": "2020-01-01",
        "publisher": {"name": "City"}, "contactPoint": {"fn": "Desk", "hasEmail": "mailto:desk@city.example"},
        "distribution": [{"title": "Table", "downloadURL": f"{base}/{name}.csv", "mediaType": "text/csv"}],
    }  # fmt: skip


class Dkan(Family):
    kind = "dkan"
    generator = "Drupal 10 with DKAN"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        items = "/api/1/metastore/schemas/dataset/items"
        if path == "/api/1/metastore/schemas":
            return as_json({"dataset": {"title": "Dataset"}, "keyword": {}})
        if path == items:
            return as_json([dataset_of(name, one, base) for name, one in self.live.items()])
        name = path.removeprefix(f"{items}/")
        one = self.live.get(name)
        return as_json(dataset_of(name, one, base)) if one else as_json({"message": "not found"}, 404)


class CatalogueList(Family):
    """A list of catalogues with some datasets each; every catalogue counts its datasets from 0000."""

    kind = "dcat_list"
    start = "/portals.json"
    most = 10
    form = "json"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        names = list(self.live)
        shelves = [names[start : start + self.most] for start in range(0, len(names), self.most)]
        if path == self.start:
            addresses = [f"{base}/c{number}/data.json" for number in range(len(shelves))]
            if self.form == "lines":
                return Reply("# portals\n" + "\n".join(addresses), 200, "text/plain")
            return as_json([{"title": "Portal", "url": one} for one in addresses])
        shelf = shelves[int(path.strip("/").partition("/")[0].removeprefix("c"))]
        datasets = [dataset_of(name[-1:], self.live[name], base) for name in shelf]
        return as_json({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": datasets})


class Sdmx(Family):
    kind = "sdmx"
    start = "/rest"
    form = "json"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if not path.startswith("/rest/dataflow"):
            return Reply("not found", 404, "text/plain")
        if self.form == "xml":
            flows = "".join(self._element(name, one) for name, one in self.live.items())
            structures = tag("mes:Structures", tag("str:Dataflows", flows))
            return as_xml(tag("mes:Structure", structures, xmlns__mes="m", xmlns__str="s", xmlns__com="c"))
        flows_of = [
            {
                "id": name, "agencyID": "OFFICE", "version": "1.0", "name": one.title,
                "names": {"en": one.title}, "description": one.text, "structure": "urn:sdmx:dsd",
            }
            for name, one in self.live.items()
        ]  # fmt: skip
        return as_json({"meta": {}, "data": {"dataflows": flows_of}})

    def _element(self, name: str, one: Record) -> str:
        texts = (
            tag("com:Name", txt(one.title), xml__lang="en"),
            tag("com:Description", txt(one.text), xml__lang="en"),
        )
        return tag("str:Dataflow", *texts, id=name, agencyID="OFFICE", version="1.0")
