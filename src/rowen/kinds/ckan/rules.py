"""Reading the answers of CKAN's action API (version 3).

Pages of `package_search`, a dataset, lists of names, and refusals in all the forms they come in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from rowen.core.web import urls
from rowen.errors import PermanentError, ServerFailed, Unparseable
from rowen.kinds.api.datasets import dataset, details, languages, signs
from rowen.kinds.api.datasets.choice import Choice
from rowen.kinds.api.datasets.details import File
from rowen.kinds.api.items import Reading
from rowen.kinds.api.presets.preset import read_json
from rowen.kinds.api.tables import columns
from rowen.kinds.api.tables.columns import Column, Table
from rowen.kinds.ckan import dates
from rowen.kinds.ckan.facts import dicts, extras_of, facts_of
from rowen.records import dataclass

ORDER = "id asc"
"""The one key of a dataset that does not change while its pages are read."""
NEWEST_FIRST = "metadata_modified desc"
ID_AND_DATE = "id,metadata_modified"
NOT_THERE = frozenset({404, 410})
NOT_ALLOWED = frozenset({401, 403})

_API_TAIL = re.compile(r"/api(?:/(?:3|action|3/action)(?:/[a-z_]+)?)?$")
_DATASET_TAIL = re.compile(r"/dataset(?:s)?$")
_STATUS_OF_TYPE = {
    "authorization error": 403,
    "not found error": 404,
    "validation error": 409,
    "search query error": 409,
    "search error": 409,
    "integrity error": 409,
}
_MAX_SAID_CHARS = 200
_MARKS = ("last_modified", "metadata_modified", "revision_id", "hash", "size", "url")
"""What changes with the table of a resource."""


class Refused(PermanentError):
    """The portal understood the request and answered with an error."""

    reason = "refused"

    def __init__(self, message: str, *, status: int, url: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, status=status, url=url)
        self.status = status


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Any]
    """Datasets, or what stood in their place."""
    count: int | None
    """How many there are in all, if the portal says so."""


def home(location: str) -> str:
    """The portal's own address, from any address of it that people copy."""
    bare = location.partition("?")[0].rstrip("/")
    return _DATASET_TAIL.sub("", _API_TAIL.sub("", bare))


def action_url(portal: str, action: str, params: Mapping[str, str | int]) -> str:
    query = urlencode(params)
    return f"{portal}/api/3/action/{action}" + (f"?{query}" if query else "")


def after(reference: str) -> str:
    """A filter for what comes behind an id."""
    return f"id:{{{quoted(reference)} TO *]"


def up_to(reference: str) -> str:
    """A filter for what comes before an id, and for the id itself."""
    return f"id:[* TO {quoted(reference)}]"


def quoted(text: str) -> str:
    """A text in a filter."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def modified_since(moment: datetime) -> str:
    return f"metadata_modified:[{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} TO *]"


_CHOSEN = {
    "organizations": "organization",
    "groups": "groups",
    "types": "dataset_type",
    "formats": "res_format",
    "tags": "tags",
}
"""Fields of the search index, by setting."""


def chosen(choice: Choice) -> dict[str, str]:
    """The parameters of a search for what the settings choose; themes have no field of their own."""
    filters = []
    for name, values in choice.lists.items():
        if name in _CHOSEN:
            spelt = dict.fromkeys(
                one for value in values for one in ((value, value.upper()) if name == "formats" else (value,))
            )
            filters.append(f"{_CHOSEN[name]}:({' OR '.join(quoted(one) for one in spelt)})")
    params = {"fq": " AND ".join(filters), "q": choice.query, "ext_bbox": choice.bbox}
    return {name: text for name, text in params.items() if text}


def result_of(status: int, body: bytes, url: str) -> Any:
    """The `result` of an answer. Raises `Refused`, `ServerFailed` or `Unparseable`."""
    shown = urls.without_credentials(url)
    try:
        answer = read_json(body, content_type="", url=shown)
    except Unparseable as exc:
        if status == 200:
            raise
        raise Refused(f"`{shown}`: {status} from the portal", status=status, url=shown) from exc
    if status == 200 and isinstance(answer, dict) and answer.get("success", True) is not False:
        if "result" in answer:
            return answer["result"]
        raise Unparseable(f"`{shown}`: an answer without a result", url=shown)
    said, kind = _said(answer)
    meant = _STATUS_OF_TYPE.get(kind, status)
    if meant == 200:
        # The error has no type: the portal's index may be away, or the request was too much for it.
        raise ServerFailed(f"`{shown}`: the portal failed: {said}", url=shown, status=500)
    raise Refused(f"`{shown}`: {meant} from the portal: {said}", status=meant, url=shown)


def page_of(result: Any, url: str) -> Page:
    if isinstance(result, dict) and isinstance(result.get("results"), list):
        return Page(result["results"], _whole(result.get("count")))
    if isinstance(result, list):
        # DKAN: the list itself, or a list within a list.
        rows = result[0] if len(result) == 1 and isinstance(result[0], list) else result
        return Page(rows, None)
    raise Unparseable(f"`{urls.without_credentials(url)}`: an answer without a list of datasets")


def row_of(result: Any, url: str) -> dict[str, Any]:
    """The dataset of a `package_show`; DKAN wraps it in a list."""
    row = result[0] if isinstance(result, list) and result else result
    if isinstance(row, dict):
        return row
    raise Unparseable(f"`{urls.without_credentials(url)}`: an answer without a dataset")


def names_of(result: Any, url: str) -> list[str]:
    if isinstance(result, list):
        return [name for name in result if isinstance(name, str) and name]
    raise Unparseable(f"`{urls.without_credentials(url)}`: an answer without a list of names")


def id_of(row: Any) -> str:
    """Empty for what is no dataset."""
    if not isinstance(row, dict):
        return ""
    found = row.get("id") or row.get("name")
    if isinstance(found, str):
        return found.strip()
    return str(found) if isinstance(found, int) else ""


def is_deleted(row: Any) -> bool:
    return isinstance(row, dict) and row.get("state") == "deleted"


def validator_of(row: Any) -> str:
    found = row.get("metadata_modified") if isinstance(row, dict) else None
    return found.strip() if isinstance(found, str) else ""


def modified_at(row: Any) -> datetime | None:
    return dates.moment_of(validator_of(row))


def tables_in(row: Any, portal: str) -> list[Table]:
    """The resources whose tables are in the portal's datastore."""
    return [
        Table(
            reference,
            action_url(portal, "datastore_search", {"resource_id": reference, "limit": 0}),
            columns.mark_of(*(one.get(name) for name in _MARKS)),
        )
        for one in dicts(row.get("resources") if isinstance(row, dict) else None)
        if (active := one.get("datastore_active"))
        and str(active).lower() == "true"
        and isinstance(reference := one.get("id"), str)
        and reference
    ]


def fields_of(result: Any, url: str) -> list[Any]:
    """The columns in an answer of the datastore."""
    fields = result.get("fields") if isinstance(result, dict) else None
    if isinstance(fields, list):
        return fields
    raise Unparseable(f"`{urls.without_credentials(url)}`: an answer without fields", url=url)


def dataset_of(
    row: Any, *, portal: str, language: str, template: str, asked: Mapping[str, Sequence[Any]] = {}
) -> Reading:
    """`asked` are fields of the datastore, by resource. Raises `Unparseable` for what cannot be a dataset."""
    reference = id_of(row)
    if not reference:
        raise Unparseable("a dataset without an id")
    name = row["name"] if isinstance(row.get("name"), str) else ""

    titles = _first_that_says(row, ("title_translated", "title"))
    descriptions = _first_that_says(row, ("notes_translated", "notes", "description"))
    versions = languages.versions(titles, descriptions, language)
    shown = versions[0].language if versions else language
    title = dataset.title_of(dataset.in_language(titles, shown), name, reference)
    extras = extras_of(row)
    facts, files = facts_of(row, name, shown, extras), _files(row, shown, asked, several=bool(versions))
    named = row.get("language") or extras.get("language")
    tags = languages.tags_of(titles, descriptions, named)
    described = facts | languages.facts_in_others(_raw_facts(row), shown) if versions else facts
    text, left_out = details.document_text(
        title, dataset.in_language(descriptions, shown), described, files, versions
    )
    url = dataset.fill(template or f"{portal}/dataset/{{name}}", id=reference, name=name)
    publisher = facts.get("publisher") or facts["organization"]
    said_more = ({"page": page}, extras) if (page := row.get("url")) else (extras,)
    return Reading(
        title=title,
        text=text,
        url=url,
        signs=partial(
            signs.of_item, row, reference=reference, url=url, files=files, publisher=publisher, more=said_more
        ),
        metadata=dataset.tidy(facts | {"languages": tags})
        | dataset.resources_of(files)
        | columns.named(file.columns for file in files),
        left_out=left_out,
    )


def _first_that_says(row: Mapping[str, Any], fields: Sequence[str]) -> Any:
    """The value of the first of these fields that has a text."""
    for field in fields:
        if (value := row.get(field)) is not None and dataset.in_language(value):
            return value
    return None


def names_in(row: Mapping[str, Any]) -> dict[str, Any]:
    """The names of groups, which settings may give in place of their titles."""
    named = [name for one in dicts(row.get("groups")) if isinstance(name := one.get("name"), str)]
    return {"group_names": named}


def area_of(row: Mapping[str, Any]) -> Any:
    return row.get("spatial") or extras_of(row).get("spatial")


def _raw_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that may be in several languages, as the portal wrote them."""
    organization = row.get("organization")
    return {
        "organization": _titles(organization) if isinstance(organization, dict) else None,
        "tags": row.get("tags_translated") or row.get("keywords"),
        "groups": [_titles(one) for one in dicts(row.get("groups"))],
        "themes": row.get("theme"),
    }


def _titles(one: Mapping[str, Any]) -> Any:
    return one.get("title_translated") or one.get("title") or one.get("display_name")


def _files(
    row: Mapping[str, Any], language: str, asked: Mapping[str, Sequence[Any]], *, several: bool
) -> list[File]:
    return [
        File(
            dataset.in_language(one.get("name_translated") or one.get("name"), language),
            dataset.in_language(one.get("url")),
            dataset.in_language(one.get("format")),
            dataset.in_language(one.get("description_translated") or one.get("description"), language),
            _in_other_languages(one, language) if several else (),
            _columns(one, language, asked),
        )
        for one in dicts(row.get("resources"))
    ]


def _columns(one: Mapping[str, Any], language: str, asked: Mapping[str, Sequence[Any]]) -> tuple[Column, ...]:
    """Those of the datastore, or of a schema that the resource has with it."""
    fields = (asked.get(str(one.get("id"))) if asked else None) or one.get("schema")
    return columns.columns_of(fields, language) if fields else ()


def _in_other_languages(one: Mapping[str, Any], language: str) -> tuple[str, ...]:
    raw = (
        one.get("name_translated") or one.get("name"),
        one.get("description_translated") or one.get("description"),
    )
    return tuple(
        text for value in raw for texts in languages.in_others(value, language).values() for text in texts
    )


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return max(0, int(value))
    except ValueError:
        return None


def _said(answer: Any) -> tuple[str, str]:
    """The portal's error message, and the type of the error in lower case."""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    kind = ""
    if isinstance(error, dict):
        kind = str(error.get("__type") or "").lower()
        message = error.get("message") or {key: value for key, value in error.items() if key != "__type"}
        error = message if isinstance(message, str) else kind or str(message)
    said = " ".join(str(error).split())[:_MAX_SAID_CHARS]
    return said or "no reason given", kind
