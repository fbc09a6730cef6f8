"""How each family of portals is recognised: what makes asking worthwhile, what is asked, what answers show.

Most sites are no portals and cost nothing: a family is asked for only where the address or its first answer
has a mark of it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from rowen.core.web import urls
from rowen.records import NamedTuple

LOOKED_AT_CHARS = 200_000
"""So much of the first answer is searched for marks."""
MAX_ASKED = 6
"""Requests beside the first, however many marks there are."""


class Sign(NamedTuple):
    kind: str
    marks: str
    """A pattern, in the address or in its first answer, in small letters."""
    ask: str
    """What is asked for below the address; empty for the first answer itself."""
    shows: str
    """JMESPath: what in the answer makes it one of these."""
    says: str
    """Why it is one, in words; `{found}` is what was shown."""
    leads: str = ""
    """Where the source is, below the address."""
    whole_site: bool = True
    """It is the software of a site, not of one address: its root is asked, too."""


_A_DATASET = quote("ASK { ?dataset a <http://www.w3.org/ns/dcat#Dataset> }", safe="")
_JSON_LIST = r'^\S+\s+\[\s*["{]'

SIGNS = (
    Sign(
        "oai_pmh",
        r"<oai-pmh|/oai\b|/oai-?(pmh|2)|/oai/request",
        "?verb=Identify",
        "identify.protocolVersion[0]",
        "answers Identify as OAI-PMH {found}",
        whole_site=False,
    ),
    Sign(
        "csw",
        r"/csw\b|service=csw|opengis\.net/cat/csw|exceptionreport",
        "?service=CSW&request=GetCapabilities&acceptVersions=2.0.2,3.0.0",
        "version",
        "answers GetCapabilities as CSW {found}",
        whole_site=False,
    ),
    Sign(
        "sparql",
        r"/sparql\b",
        f"?query={_A_DATASET}&format={quote('application/sparql-results+json', safe='')}",
        "boolean && 'yes'",
        "answers SPARQL and has datasets in DCAT",
        whole_site=False,
    ),
    Sign(
        "stac",
        r"stac_version|/stac\b",
        "",
        "stac_version",
        "is a catalogue of STAC {found}",
        whole_site=False,
    ),
    Sign(
        "ogc_records",
        r"/collections/[^/?\s]+/?\s",
        "",
        "itemType == 'record' && id",
        "is the collection `{found}` of OGC API Records",
        whole_site=False,
    ),
    Sign(
        "ogc_records",
        r"ogcapi-records|\"rel\":\s*\"(data|conformance)\"|/collections\b",
        "/collections",
        "collections[?itemType == 'record'].id | [0]",
        "has the collection `{found}` of OGC API Records",
        leads="/collections/{found}",
        whole_site=False,
    ),
    Sign(
        "sdmx",
        r"\bsdmx\b|/rest/?\s|sdmx\.org",
        "/dataflow/all/all/latest",
        "dataflows[0].id && to_string(length(dataflows))",
        "answers with {found} dataflows of SDMX",
        whole_site=False,
    ),
    Sign(
        "dcat_list",
        rf"{_JSON_LIST}|data\.json\b[^\"]*\n",
        "",
        "!dataset && next[0] && to_string(length(next))",
        "is a list of {found} catalogues",
        whole_site=False,
    ),
    Sign(
        "dcat",
        r"data\.json|dcat|project-open-data|\"dataset\":",
        "",
        "dataset && to_string(length(dataset))",
        "is a catalogue in DCAT with {found} datasets",
        whole_site=False,
    ),
    Sign(
        "ckan",
        r"\bckan\b",
        "/api/3/action/package_search?rows=0",
        "success && to_string(result.count)",
        "answers CKAN's search: {found} datasets",
    ),
    Sign(
        "dkan",
        r"\bdkan\b",
        "/api/1/metastore/schemas",
        "dataset && 'dataset'",
        "has DKAN's metastore",
    ),
    Sign(
        "udata",
        r"\budata\b|/api/1/datasets",
        "/api/1/datasets/?page_size=1",
        "data && to_string(total)",
        "answers udata's API: {found} datasets",
    ),
    Sign("dataverse", r"\bdataverse\b", "/api/info/version", "data.version", "is Dataverse {found}"),
    Sign(
        "invenio",
        r"\binvenio|\bzenodo\b|/api/records",
        "/api/records?size=1",
        "hits && to_string(hits.total)",
        "answers InvenioRDM's API: {found} records",
    ),
    Sign(
        "opendatasoft",
        r"\bopendatasoft\b|/api/explore/",
        "/api/explore/v2.1/catalog/datasets?limit=1",
        "results && to_string(total_count)",
        "answers Opendatasoft's Explore API: {found} datasets",
    ),
    Sign(
        "socrata",
        r"\bsocrata\b|/api/catalog/v1",
        "/api/catalog/v1?domains={host}&search_context={host}&only=datasets&limit=1",
        "results && to_string(resultSetSize)",
        "answers Socrata's catalogue of its domain: {found} datasets",
    ),
    Sign(
        "arcgis",
        r"arcgis hub|hub\.arcgis|opendata\.arcgis|/api/search/v1",
        "/api/search/v1/collections/dataset/items?limit=1",
        "features && to_string(numberMatched)",
        "answers ArcGIS Hub's search: {found} datasets",
    ),
)


def candidates(address: str, body: bytes) -> list[Sign]:
    """The signs whose marks an address and its first answer have, in the order to ask."""
    text = body[:LOOKED_AT_CHARS].decode("utf-8", "replace").strip().lower()
    seen = f"{address.lower()} \n{text}"
    return [sign for sign in SIGNS if re.search(sign.marks, seen)]


def bases(sign: Sign, address: str) -> Iterator[str]:
    """The addresses below which it is asked, without a slash at the end."""
    bare = address.partition("?")[0].partition("#")[0]
    path = sign.ask.partition("?")[0]
    own = bare.partition(path)[0] if path else bare
    yield own if not sign.ask and "." in own.rpartition("/")[2] else own.rstrip("/")
    root = urls.origin_of(address)
    if sign.whole_site and root != own.rstrip("/"):
        yield root
