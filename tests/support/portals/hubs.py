"""Socrata, ArcGIS Hub, and a catalogue in DCAT in pages of hydra, as each documents its answers."""

from __future__ import annotations

from typing import Any

from tests.support.portals.skeleton import Family, Record, Reply, as_json


class Socrata(Family):
    """A domain's catalogue in the order of ids."""

    kind = "socrata"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if "ids" in params:
            rows = [one for one in self.live.items() if one[0] == params["ids"]]
        else:
            size = min(self.most, int(params["limit"]))
            rows = [one for one in self.live.items() if one[0] > params.get("scroll_id", "")][:size]
        results = [
            {"resource": {"id": name, "name": one.title, "description": one.text}, "metadata": {}}
            for name, one in rows
        ]
        return as_json({"results": results, "resultSetSize": self.total()})


class ArcgisHub(Family):
    kind = "arcgis"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        items = "/api/search/v1/collections/dataset/items"
        if path != items:
            one = self.live.get(path.removeprefix(f"{items}/"))
            found = as_json(self._feature(path.rpartition("/")[2], one)) if one else None
            return found or as_json({"message": "Not Found"}, 404)
        start, limit = int(params.get("startindex", 1)), min(int(params.get("limit", 10)), self.most)
        rows = list(self.live.items())[start - 1 : start - 1 + limit]
        links = [{"rel": "self", "href": f"{base}{items}"}]
        if start - 1 + limit < len(self.live):
            links.append({"rel": "next", "href": f"{base}{items}?limit={limit}&startindex={start + limit}"})
        return as_json(
            {
                "type": "FeatureCollection", "numberMatched": self.total(), "numberReturned": len(rows),
                "links": links, "features": [self._feature(name, one) for name, one in rows],
            }
        )  # fmt: skip

    def _feature(self, name: str, one: Record) -> dict[str, Any]:
        return {
            "id": name, "type": "Feature", "geometry": None, "links": [],
            "properties": {
                "id": name, "title": one.title, "description": one.text, "owner": "gis_admin",
                "orgName": "County", "type": "CSV", "tags": ["parcels"], "created": 1611934478000,
            },
        }  # fmt: skip


class PagedDcat(Family):
    """What ckanext-dcat answers: a graph with a page of datasets, and where the next one stands."""

    kind = "dcat"
    start = "/catalog.jsonld"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if path != self.start:
            return Reply("not found", 404, "text/plain")
        page = int(params.get("page", 1))
        rows = list(self.live.items())[(page - 1) * self.most : page * self.most]
        here = {"@id": f"{base}{self.start}?page={page}", "@type": "hydra:PagedCollection"}
        if page * self.most < len(self.live):
            here["hydra:next"] = f"{base}{self.start}?page={page + 1}"
        graph: list[dict[str, Any]] = [{**here, "hydra:totalItems": self.total()}]
        graph += [
            {
                "@id": f"https://data.example.org/{name}", "@type": "dcat:Dataset", "dct:identifier": name,
                "dct:title": one.title, "dct:description": one.text, "dcat:keyword": ["water"],
            }
            for name, one in rows
        ]  # fmt: skip
        context = {
            "dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/",
            "hydra": "http://www.w3.org/ns/hydra/core#",
        }  # fmt: skip
        return as_json({"@context": context, "@graph": graph})
