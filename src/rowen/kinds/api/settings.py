"""The settings of an API, with the values each may have.

Expressions are kept as they were written; `rules.Definition` compiles them, where one can be refused by its
full name.
"""

from __future__ import annotations

from rowen.core.params import how, one_of, optional, what, whole, words
from rowen.core.rules.duration import Days, Duration
from rowen.core.web import urls
from rowen.fetching import credentials
from rowen.kinds.api.datasets import choice
from rowen.kinds.api.datasets.dataset import template
from rowen.kinds.api.rules import OFFER, Paging
from rowen.kinds.settings import CA_FILE, CONCURRENCY, DELAY_S, MAX_DELETED_SHARE

MAX_NAME_CHARS = 100
duration_s = Duration(bare="d")


def _path(text: str) -> str:
    if text and (not text.startswith("/") or "#" in text or not text.isprintable() or " " in text):
        raise ValueError("expected a path such as `/v1/jobs`")
    if urls.secret_parameter(text):
        raise ValueError("expected no key in it: it would be stored in clear; give it by `header.NAME`")
    return text


def _detail(text: str) -> str:
    if text and "{id}" not in text:
        raise ValueError("expected a path with `{id}` in it, such as `/v1/jobs/{id}`")
    return _path(text)


def _name(text: str) -> str:
    if not text or len(text) > MAX_NAME_CHARS or not text.isprintable() or text != text.strip():
        raise ValueError(f"expected a name of up to {MAX_NAME_CHARS} characters behind the dot")
    return text


def _query_name(text: str) -> str:
    if urls.secret_parameter(f"?{text}=x"):
        raise ValueError(
            "expected no key in the query, where logs and messages show it; give it by reference:"
            " `header.X-Api-Key` as `${KEY}`, `bearer` or `basic`"
        )
    return _name(text)


def _query_value(text: str) -> str:
    if "${" in text:
        raise ValueError("expected no reference in the query, where logs and messages would show its value")
    return text


def _offer_name(text: str) -> str:
    if text not in OFFER:
        raise ValueError(f"expected one of {', '.join(f'offer.{name}' for name in OFFER)}")
    return text


def _language(text: str) -> str:
    if not text.replace("-", "").replace("_", "").isalnum() or len(text) > 20:
        raise ValueError("expected a language such as `de` or `pt-BR`")
    return text.replace("_", "-")


def _span(text: str) -> float | None:
    return None if text.strip().lower() == "any" else duration_s(text)


_TIMEOUT = optional(Duration(1, 3600, bare="s"))
TIMEOUT_S = how("timeout_s", None, "Seconds to wait for an answer; none for the general setting", _TIMEOUT)
SHARED = (MAX_DELETED_SHARE, CONCURRENCY, DELAY_S, TIMEOUT_S, CA_FILE, *credentials.PARAMS)

CATALOGUE = (
    what("language", "", "The language to take where a portal has several; else English", _language),
    how("url_template", "", "A dataset's page, with `{id}` or `{name}`; detected if omitted", template),
    *choice.PARAMS,
    *SHARED,
)
"""The settings of an open-data portal."""

PARAMS = (
    what("path", "", "The list's path below the location", _path, secret=True),
    what(
        "param",
        {},
        "The query; may hold {since} {until} {bucket} {page} {offset} {position} {cursor} {limit}",
        _query_value,
        key=_query_name,
        # A key that was put here by mistake is not repeated in messages.
        secret=True,
    ),
    what("repeat", [], "Names in the query whose values are lists: a,b is sent as two", words),
    how("always", [], "Names in the query that are sent with a token, which is otherwise sent alone", words),
    how("paging", "none", "How the next page is asked for", one_of(*Paging)),
    how("page_first", 1, "The number of the first page", whole(0, 1)),
    how("page_size", 100, "What {limit} stands for", whole(1, 10_000)),
    how("cursor", "", "Where the next cursor stands in an answer, as JMESPath"),
    how("next", "", "Where the next page's address stands in an answer"),
    how("total", "", "Where an answer says how many items there are"),
    what("items", "@", "Where the items stand in an answer"),
    what("id", "id", "Where its id stands in an item"),
    what("title", "not_null(title, name)", "Where its title stands in an item"),
    what("text", "not_null(text, description, content, body)", "Where its text, HTML or object stands"),
    what("updated", "", "Where an item says when it last changed"),
    what("url", "", "Where the address of an item's page stands"),
    how("url_template", "", "The page of an item for people, with {id}", template),
    what("meta", {}, "Metadata to filter by, each as JMESPath", key=_name),
    what("offer", {}, f"Items are job listings: {', '.join(OFFER)}", key=_offer_name),
    what("detail", "", "The path of one item, with {id}: found under `detail`", _detail, secret=True),
    what("window", "none", "The whole list each time, or by date of change", one_of("none", "date")),
    how("order", "none", "How the list is sorted by `updated`", one_of("desc", "asc", "none")),
    how("date_format", "iso", "How {since}, {until} are written", one_of("iso", "date", "unix", "unix_ms")),
    how("bucket", {}, "What {bucket} may be, each with the age it reaches: 7d, or any", _span, key=_name),
    how("overlap", 86_400.0, "How far a window reaches back before the last one", duration_s),
    how("seed_days", 0, "Days of history wanted, counted from the day it was added", Days(0, 20_000)),
    how("seed_windows", 7, "Days of history taken in by one sync", Days(1, 1000)),
    how("max_pages", 10_000, "Pages of the list asked for in one run", whole(1, 1_000_000)),
    how("max_items", None, "Items taken in one run; none for all", optional(whole(1, 100_000_000))),
    how("recheck", 0, "Known items asked for in one run, to see if they are gone", whole(0, 100_000)),
    *SHARED,
)
