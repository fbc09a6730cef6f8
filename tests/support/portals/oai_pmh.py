"""An archive that answers OAI-PMH 2.0: resumption tokens, deleted records, increments by day or second."""

from __future__ import annotations

from datetime import datetime

from tests.support.portals.skeleton import Family, Record, Reply, as_xml, tag, txt

_ENVELOPE = "http://www.openarchives.org/OAI/2.0/"
_DC = {
    "xmlns__oai_dc": "http://www.openarchives.org/OAI/2.0/oai_dc/",
    "xmlns__dc": "http://purl.org/dc/elements/1.1/",
}


class Archive(Family):
    kind = "oai_pmh"
    start = "/oai"

    def __init__(self, number: int = 0) -> None:
        super().__init__(number)
        self.by_day = False
        """Its datestamps are days, and it takes no others."""
        self.forgets: set[int] = set()
        """Positions whose tokens expire, each once."""
        self.forgets_always: set[int] = set()
        self.drops_deleted = False
        """It keeps no record of what was deleted."""

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        verb = params.get("verb", "")
        if path != "/oai":
            return Reply("not found", 404, "text/plain")
        match verb:
            case "Identify":
                return self._envelope(
                    tag(
                        "Identify",
                        tag("repositoryName", "An archive"),
                        tag("baseURL", txt(f"{base}/oai")),
                        tag("protocolVersion", "2.0"),
                        tag("deletedRecord", "no" if self.drops_deleted else "persistent"),
                        tag("granularity", "YYYY-MM-DD" if self.by_day else "YYYY-MM-DDThh:mm:ssZ"),
                    )
                )
            case "ListRecords":
                return self._list(params)
            case "GetRecord":
                one = self._kept().get(params.get("identifier", ""))
                if one is None:
                    return self._error("idDoesNotExist", "no such record")
                return self._envelope(tag("GetRecord", self._record(params["identifier"], one)))
        return self._error("badVerb", f"no such verb: {verb}")

    def _list(self, params: dict[str, str]) -> Reply:
        token = params.get("resumptionToken")
        if token is not None and set(params) - {"verb", "resumptionToken"}:
            return self._error("badArgument", "resumptionToken is an exclusive argument")
        if token is None and "metadataPrefix" not in params:
            return self._error("badArgument", "metadataPrefix is missing")
        start, since = 0, params.get("from", "")
        if token is not None:
            position, _, since = token.partition("|")
            start = int(position)
            if start in self.forgets | self.forgets_always:
                self.forgets.discard(start)
                return self._error("badResumptionToken", "the token has expired")
        if self.by_day and len(since) > 10:
            return self._error("badArgument", "the granularity is YYYY-MM-DD")
        rows = {
            name: one for name, one in self._kept().items() if self._stamp(one.changed)[: len(since)] >= since
        }
        if not rows:
            return self._error("noRecordsMatch", "nothing matches")
        names = list(rows)
        page = names[start : start + self.most]
        following = start + self.most
        pieces = [self._record(name, rows[name]) for name in page]
        if len(names) > self.most:
            more = f"{following}|{since}" if following < len(names) else ""
            pieces.append(
                tag("resumptionToken", txt(more), completeListSize=str(self.total(rows)), cursor=str(start))
            )
        return self._envelope(tag("ListRecords", *pieces))

    def _kept(self) -> dict[str, Record]:
        return self.live if self.drops_deleted else dict(sorted(self.records.items()))

    def _stamp(self, at: datetime) -> str:
        text = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return text[:10] if self.by_day else text

    def _record(self, name: str, one: Record) -> str:
        head = (
            tag("identifier", txt(name)),
            tag("datestamp", self._stamp(one.changed)),
            tag("setSpec", "data"),
        )
        if one.deleted:
            return tag("record", tag("header", *head, status="deleted"))
        inside = tag(
            "oai_dc:dc",
            tag("dc:title", txt(one.title), xml__lang="en"),
            tag("dc:description", txt(one.text)),
            tag("dc:creator", "Doe, Jane"),
            tag("dc:subject", "water"),
            tag("dc:publisher", "University"),
            tag("dc:rights", "CC BY 4.0"),
            tag("dc:identifier", f"doi:10.5555/{txt(name)}"),
            tag("dc:identifier", f"https://archive.example/{txt(name)}"),
            **_DC,
        )
        return tag("record", tag("header", *head), tag("metadata", inside))

    def _error(self, code: str, said: str) -> Reply:
        return self._envelope(tag("error", txt(said), code=code))

    def _envelope(self, inside: str) -> Reply:
        return as_xml(tag("OAI-PMH", tag("responseDate", "2026-11-17T00:00:00Z"), inside, xmlns=_ENVELOPE))
