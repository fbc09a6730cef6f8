"""OGC API Records, CSW 2 and 3, and STAC (a service and a static catalogue), from their specifications."""

from __future__ import annotations

from typing import Any

from tests.support.portals.skeleton import Family, Record, Reply, as_json, as_xml, tag, txt

_BOX = {
    "spatial": {"bbox": [[5.9, 45.8, 10.5, 47.8]]},
    "temporal": {"interval": [["2020-01-01T00:00:00Z", None]]},
}


class OgcRecords(Family):
    kind = "ogc_records"
    start = "/collections/main"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        items = f"{self.start}/items"
        if path in ("", "/"):
            links = [{"rel": "data", "href": f"{base}/collections", "type": "application/json"}]
            return as_json({"title": "Catalogue", "links": links})
        if path == "/collections":
            features = {"id": "lakes", "itemType": "feature", "links": []}
            records = {"id": "main", "itemType": "record", "title": "Records", "links": []}
            return as_json({"collections": [features, records], "links": []})
        if path == self.start:
            return as_json({"id": "main", "itemType": "record", "title": "Records", "links": []})
        if path == items:
            start, limit = int(params.get("offset", 0)), min(int(params.get("limit", 10)), self.most)
            rows = list(self.live.items())[start : start + limit]
            links = [{"rel": "self", "href": f"{base}{items}"}]
            if start + limit < len(self.live):
                links.append({"rel": "next", "href": f"{base}{items}?limit={limit}&offset={start + limit}"})
            return as_json(
                {
                    "type": "FeatureCollection", "numberMatched": self.total(), "numberReturned": len(rows),
                    "links": links, "features": [self._feature(name, one, base) for name, one in rows],
                }
            )  # fmt: skip
        one = self.live.get(path.removeprefix(f"{items}/"))
        return (
            as_json(self._feature(path.rpartition("/")[2], one, base))
            if one
            else as_json({"code": "NotFound"}, 404)
        )

    def _feature(self, name: str, one: Record, base: str) -> dict[str, Any]:
        return {
            "id": name, "type": "Feature", "geometry": None, "time": {"interval": ["2020-01-01", ".."]},
            "properties": {
                "type": "dataset", "title": one.title, "description": one.text, "keywords": ["water"],
                "language": {"code": "en"}, "license": "CC-BY-4.0",
                "themes": [{"concepts": [{"id": "hydrography"}], "scheme": "x"}],
                "contacts": [{"name": "Jane Doe", "organization": "Survey", "roles": ["publisher"]}],
            },
            "links": [
                {"rel": "enclosure", "href": f"{base}/{name}.csv", "type": "text/csv", "title": "Table"}
            ],
        }  # fmt: skip


class Csw(Family):
    kind = "csw"
    start = "/csw"
    version = "2.0.2"
    schema = "csw:Record"
    """In which it answers, whatever was asked for."""

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        given = {key.lower(): value for key, value in params.items()}
        if path != "/csw":
            return Reply("not found", 404, "text/plain")
        match given.get("request"):
            case "GetCapabilities":
                return as_xml(tag("csw:Capabilities", version=self.version, xmlns__csw="x"))
            case "GetRecords":
                return self._records(given)
            case "GetRecordById":
                one = self.live.get(given["id"])
                inside = self._record(given["id"], one) if one else ""
                return as_xml(tag("csw:GetRecordByIdResponse", inside, xmlns__csw="x"))
        return self._exception("MissingParameterValue", "request is missing")

    def _records(self, given: dict[str, str]) -> Reply:
        if given.get("version") != self.version:
            return self._exception("VersionNegotiationFailed", f"only {self.version}")
        start, limit = int(given.get("startposition", 1)), min(int(given.get("maxrecords", 10)), self.most)
        if start > len(self.live) > 0:
            return self._exception("InvalidParameterValue", "startPosition is beyond the last record")
        rows = list(self.live.items())[start - 1 : start - 1 + limit]
        following = start + len(rows)
        results = tag(
            "csw:SearchResults",
            *(self._record(name, one) for name, one in rows),
            numberOfRecordsMatched=str(self.total()),
            numberOfRecordsReturned=str(len(rows)),
            nextRecord=str(following if following <= len(self.live) else 0),
            elementSet="full",
        )
        return as_xml(tag("csw:GetRecordsResponse", results, version=self.version, xmlns__csw="x"))

    def _record(self, name: str, one: Record) -> str:
        return tag(
            self.schema,
            tag("dc:identifier", txt(name)),
            tag("dc:title", txt(one.title)),
            tag("dc:subject", "water"),
            tag("dct:abstract", txt(one.text)),
            tag("dc:creator", "Survey"),
            tag("dc:URI", f"https://geo.example/{txt(name)}.zip", protocol="WWW:DOWNLOAD", name="Shapes"),
            tag("ows:BoundingBox", tag("ows:LowerCorner", "45.8 5.9"), tag("ows:UpperCorner", "47.8 10.5")),
            xmlns__dc="d", xmlns__dct="e", xmlns__ows="o",
        )  # fmt: skip

    def _exception(self, code: str, said: str) -> Reply:
        inside = tag("ows:Exception", tag("ows:ExceptionText", txt(said)), exceptionCode=code)
        return as_xml(tag("ows:ExceptionReport", inside, xmlns__ows="o"))


class StacApi(Family):
    kind = "stac"
    most = 10
    items_each = 2

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if path in ("", "/"):
            links = [
                {"rel": "data", "href": f"{base}/collections"},
                {"rel": "child", "href": f"{base}/collections/x"},
                {"rel": "search", "href": f"{base}/search", "method": "POST"},
                {"rel": "search", "href": f"{base}/search", "method": "GET"},
            ]
            return as_json(
                {"type": "Catalog", "stac_version": "1.0.0", "id": "api", "conformsTo": [], "links": links}
            )
        start = int(params.get("token", 0))
        if path == "/collections":
            rows = [self.collection(name, one, base) for name, one in self.live.items()]
            return as_json(
                {"collections": rows[start : start + self.most], **self._paged(path, start, len(rows), base)}
            )
        if path == "/search":
            features = [self.item(name, n, base) for name in self.live for n in range(self.items_each)]
            found = {"type": "FeatureCollection", "features": features[start : start + self.most]}
            return as_json({**found, **self._paged(path, start, len(features), base)})
        return as_json({"code": "NotFound"}, 404)

    def _paged(self, path: str, start: int, total: int, base: str) -> dict[str, Any]:
        links = [{"rel": "self", "href": f"{base}{path}"}, {"rel": "root", "href": base}]
        if start + self.most < total:
            links.append({"rel": "next", "href": f"{base}{path}?token={start + self.most}"})
        return {"links": links, "numberMatched": total + self.announces, "numberReturned": self.most}

    def collection(self, name: str, one: Record, base: str) -> dict[str, Any]:
        return {
            "type": "Collection", "stac_version": "1.0.0", "id": name,
            "title": one.title, "description": one.text,
            "license": "CC-BY-4.0", "keywords": ["water"], "extent": _BOX,
            "providers": [{"name": "Agency", "roles": ["producer"]}],
            "links": [{"rel": "self", "href": f"{base}/collections/{name}"}],
            "assets": {"thumb": {"href": f"{base}/{name}.png", "type": "image/png", "title": "Thumbnail"}},
        }  # fmt: skip

    def item(self, name: str, number: int, base: str) -> dict[str, Any]:
        return {
            "type": "Feature", "stac_version": "1.0.0", "id": f"scene-{number}", "collection": name,
            "properties": {"datetime": "2020-01-01T00:00:00Z", "title": f"Scene {number} of {name}"},
            "bbox": [5.9, 45.8, 10.5, 47.8], "links": [], "assets": {},
        }  # fmt: skip


class StaticStac(StacApi):
    """A tree of files: a catalogue, catalogues below it, and in each some collections with their items."""

    start = "/catalog.json"
    begins = 9
    missing: frozenset[str] = frozenset()
    """Files that are linked and not there."""

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        names, parts = list(self.live), path.strip("/").split("/")
        shelves = [names[start : start + self.most] for start in range(0, len(names), self.most)]
        if path in self.missing:
            return Reply("gone", 404, "text/plain")
        if path == "/catalog.json":
            return self._catalogue([f"./shelf-{number}/catalog.json" for number in range(len(shelves))])
        if len(parts) == 2 and parts[0].startswith("shelf-"):
            shelf = shelves[int(parts[0].removeprefix("shelf-"))]
            return self._catalogue([f"../{name}/collection.json" for name in shelf])
        if parts[0] in self.live and parts[-1] == "collection.json":
            links = [{"rel": "item", "href": f"./{n}.json"} for n in range(self.items_each)]
            links.append({"rel": "parent", "href": "../catalog.json"})
            return as_json({**self.collection(parts[0], self.live[parts[0]], base), "links": links})
        if parts[0] in self.live:
            return as_json(self.item(parts[0], int(parts[-1].removesuffix(".json")), base))
        return Reply("not found", 404, "text/plain")

    def _catalogue(self, children: list[str]) -> Reply:
        links = [{"rel": "child", "href": one} for one in children]
        return as_json(
            {"type": "Catalog", "stac_version": "1.0.0", "id": "c", "description": "x", "links": links}
        )
