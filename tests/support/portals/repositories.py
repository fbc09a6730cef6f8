"""Dataverse and InvenioRDM, as their search APIs are documented."""

from __future__ import annotations

import re
from typing import Any

from tests.support.portals.skeleton import Family, Record, Reply, as_json


class Dataverse(Family):
    kind = "dataverse"
    generator = "Dataverse"

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if path == "/api/info/version":
            return as_json({"status": "OK", "data": {"version": "6.2", "build": "1"}})
        if path != "/api/search" or "q" not in params or params.get("type") != "dataset":
            return as_json({"status": "ERROR", "message": "q parameter is missing"}, 400)
        start, limit = int(params.get("start", 0)), min(int(params.get("per_page", 10)), self.most)
        items = [self._item(name, one) for name, one in list(self.live.items())[start : start + limit]]
        data = {
            "q": "*",
            "total_count": self.total(),
            "start": start,
            "count_in_response": len(items),
            "items": items,
        }
        return as_json({"status": "OK", "data": data})

    def _item(self, name: str, one: Record) -> dict[str, Any]:
        return {
            "name": one.title, "type": "dataset", "url": f"https://doi.org/{name}", "global_id": name,
            "description": one.text, "published_at": "2020-01-01T00:00:00Z", "publisher": "University",
            "citation": f"Doe, 2020, {one.title}", "subjects": ["Earth Sciences"], "keywords": ["water"],
            "authors": ["Doe, Jane"], "contacts": [{"name": "Desk", "affiliation": ""}],
            "name_of_dataverse": "Rivers", "fileCount": 2,
        }  # fmt: skip


class Invenio(Family):
    kind = "invenio"
    generator = "InvenioRDM"
    begins = 7
    window = 10_000
    filters = True

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if path.startswith("/api/records/"):
            one = self.live.get(path.removeprefix("/api/records/"))
            gone = {"status": 410, "message": "The record has been deleted."}
            return as_json(self._item(path.rpartition("/")[2], one, base)) if one else as_json(gone, 410)
        if path != "/api/records":
            return as_json({"status": 404, "message": "not found"}, 404)
        page, size = int(params.get("page", 1)), int(params.get("size", 10))
        if size > self.most or page * size > self.window + size - 1:
            return as_json({"status": 400, "message": "Page size too large or beyond 10000 results"}, 400)
        rows, query = self.live, params.get("q", "")
        if query and not self.filters:
            return as_json({"status": 400, "message": "bad query"}, 400)
        if found := re.fullmatch(r"(created|updated):\[(\S+) TO (\S+)[\]}]", query):
            low, high = found[2], found[3]
            rows = {
                name: one
                for name, one in rows.items()
                if low <= one.changed.date().isoformat()
                and (high == "*" or one.changed.date().isoformat() < high)
            }
        some = list(rows.items())[(page - 1) * size : page * size]
        hits = {"hits": [self._item(name, one, base) for name, one in some], "total": self.total(rows)}
        return as_json({"hits": hits, "links": {"self": base}})

    def _item(self, name: str, one: Record, base: str) -> dict[str, Any]:
        return {
            "id": name, "created": one.changed.isoformat(), "updated": one.changed.isoformat(),
            "links": {"self": f"{base}/api/records/{name}", "self_html": f"{base}/records/{name}"},
            "pids": {"doi": {"identifier": f"10.5555/{name}"}},
            "metadata": {
                "title": one.title, "description": f"<p>{one.text}</p>", "publication_date": "2020-01-01",
                "publisher": "Archive", "creators": [{"person_or_org": {"name": "Doe, Jane"}}],
                "subjects": [{"subject": "water"}], "rights": [{"id": "cc-by-4.0"}],
                "resource_type": {"id": "dataset", "title": {"en": "Dataset", "de": "Datensatz"}},
            },
            "files": {
                "entries": {"a": {"key": "a.csv", "mimetype": "text/csv", "links": {"content": f"{base}/a"}}}
            },
        }  # fmt: skip
