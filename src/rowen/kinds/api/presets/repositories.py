"""Archives of research data and of publications, by the protocols and the software they have in common."""

from __future__ import annotations

from rowen.core.params import what
from rowen.kinds.api.datasets import oai
from rowen.kinds.api.presets.preset import Catalogue, Preset

_RECORD = "metadata[0].*[]"
"""The record inside its envelope, under any name of its format."""


def _word(text: str) -> str:
    text = text.strip()
    if text and not all(one.isalnum() or one in "-_.:!~*'()" for one in text):
        raise ValueError("expected a name such as `oai_dc`")
    return text


OAI_PMH = Preset(
    kind="oai_pmh",
    accept="text/xml, application/xml;q=0.9, */*;q=0.1",
    decode=oai.read,
    own=(
        what("prefix", "oai_dc", "The format of the records (`metadataPrefix`)", _word),
        what("set", "", "Only records of this set (`setSpec`)", _word),
    ),
    settings={
        "param.verb": "ListRecords",
        "param.metadataPrefix": "{prefix}",
        "param.set": "{set}",
        "param.resumptionToken": "{cursor}",
        "always": "verb",
        "paging": "token",
        "cursor": "token",
        "total": "total",
        # Every archive takes days; not all take seconds.
        "date_format": "date",
        "items": "records",
        "id": "header[0].identifier[0]",
        "updated": "header[0].datestamp[0]",
        "title": f"[{_RECORD}.title[], {_RECORD}.titles[].title[]][]",
        "text": f"[{_RECORD}.description[], {_RECORD}.descriptions[].description[]][]",
        "url": f"{_RECORD}.identifier[].not_null(\"@value\", @) | [?starts_with(@, 'http')] | [0]",
        "meta.publisher": f"{_RECORD}.publisher[]",
        "meta.creators": f"[{_RECORD}.creator[], {_RECORD}.creators[].creator[].creatorName[]][]",
        "meta.contributors": f"{_RECORD}.contributor[]",
        "meta.license": f"{_RECORD}.rights[]",
        "meta.type": f"{_RECORD}.type[]",
        "meta.issued": f"[{_RECORD}.date[], {_RECORD}.publicationYear[]][]",
        "meta.language": f"{_RECORD}.language[]",
        "meta.spatial": f"{_RECORD}.coverage[]",
        "meta.sets": "header[0].setSpec",
        "meta.tags": f"[{_RECORD}.subject[], {_RECORD}.subjects[].subject[]][]",
    },
    catalogue=Catalogue(
        lists=("tags", "creators", "contributors", "sets"),
        check="?verb=GetRecord&metadataPrefix={prefix}&identifier={id}",
        check_lists=True,
        deleted="header[0].\"@status\" == 'deleted'",
        changes={"from": "{since}"},
    ),
)
"""OAI-PMH 2.0: lists by resumption tokens, what changed by `from`, and deletions that are named."""

DATAVERSE = Preset(
    kind="dataverse",
    settings={
        "path": "/api/search",
        "param.q": "*",
        "param.type": "dataset",
        # What is published while the list is read comes at its end.
        "param.sort": "date",
        "param.order": "asc",
        "param.start": "{offset}",
        "param.per_page": "{limit}",
        "paging": "offset",
        "items": "data.items",
        "total": "data.total_count",
        "id": "global_id",
        "title": "name",
        "text": "description",
        "url": "url",
        "meta.publisher": "publisher",
        "meta.creators": "authors",
        "meta.contacts": "contacts[].name",
        "meta.issued": "published_at",
        "meta.type": "type",
        "meta.collection": "name_of_dataverse",
        "meta.citation": "citation",
        "meta.tags": "keywords",
        "meta.themes": "subjects",
    },
    catalogue=Catalogue(
        lists=("tags", "themes", "creators", "contacts"),
        choices={
            "themes": ("fq", 'subject_ss:"{value}"'),
            "tags": ("fq", 'keywordValue_ss:"{value}"'),
        },
    ),
)
"""Dataverse's Search API, in the order of publication."""

INVENIO = Preset(
    kind="invenio",
    settings={
        "path": "/api/records",
        "param.q": "created:[{since} TO {until}}",
        "param.sort": "oldest",
        "param.page": "{page}",
        "param.size": "{limit}",
        "paging": "page",
        "date_format": "date",
        "items": "hits.hits",
        "total": "hits.total",
        "id": "id",
        "updated": "updated",
        "title": "metadata.title",
        "text": "metadata.description",
        "url": "links.self_html || links.html",
        "meta.publisher": "metadata.publisher",
        "meta.creators": "metadata.creators[].not_null(person_or_org.name, name)",
        "meta.license": "[metadata.rights[].id, metadata.license.id][]",
        "meta.type": "not_null(metadata.resource_type.title, metadata.resource_type.id)",
        "meta.issued": "metadata.publication_date",
        "meta.doi": "not_null(pids.doi.identifier, doi)",
        "meta.communities": "[parent.communities.ids, metadata.communities[].id][]",
        "meta.tags": "[metadata.subjects[].subject, metadata.keywords][]",
    },
    catalogue=Catalogue(
        lists=("tags", "creators", "communities"),
        landing="/records/{id}",
        resources=(
            "not_null(files[].[key, links.self, type], files.entries.*.[key, links.content, mimetype], `[]`)"
        ),
        check="/api/records/{id}",
        offset_end=10_000,
        sliced=True,
        whole_pages=True,
        changes={"q": "updated:[{since} TO *]"},
    ),
)
"""InvenioRDM and Zenodo: no page behind 10,000, so that a longer list is read by dates of creation."""
