"""The settings of an API that somebody describes, with what may be given for each.

Expressions are kept as they were written; `rest.definition` reads them, where one can be refused by its full
name. What decides which items there are and what is kept of them is part of a source's identity; how they
are asked for is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rowen.core.params import Param, number, one_of, optional, whole, words
from rowen.core.rules.duration import Days
from rowen.core.web import urls
from rowen.fetching import credentials
from rowen.kinds.api.dataset import template
from rowen.kinds.api.portal import duration_s
from rowen.kinds.api.rules import OFFER
from rowen.kinds.settings import CONCURRENCY, DELAY_S, MAX_DELETED_SHARE

MAX_NAME_CHARS = 100


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


def _span(text: str) -> float | None:
    return None if text.strip().lower() == "any" else duration_s(text)


def _expression(name: str, default: str, help: str, *, identity: bool = True) -> Param:  # noqa: A002
    return Param(name=name, default=default, parse=str.strip, identity=identity, help=help)


def _way(name: str, default: Any, parse: Callable[[str], Any], help: str) -> Param:  # noqa: A002
    """How items are asked for, not which."""
    return Param(name=name, default=default, parse=parse, identity=False, help=help)


SHARED = (
    MAX_DELETED_SHARE,
    CONCURRENCY,
    DELAY_S,
    _way(
        "timeout_s",
        None,
        optional(number(1, 3600)),
        "Seconds to wait for an answer; none for the general setting",
    ),
    *credentials.PARAMS,
)

PARAMS = (
    Param(
        name="path",
        default="",
        parse=_path,
        identity=True,
        secret=True,
        help="The list's path below the location",
    ),
    Param(
        name="param",
        key=_query_name,
        default={},
        parse=_query_value,
        identity=True,
        # A key that somebody put here by mistake is not repeated.
        secret=True,
        help="The query; may hold {since} {until} {bucket} {page} {offset} {cursor} {limit}",
    ),
    Param(
        name="repeat",
        default=[],
        parse=words,
        identity=True,
        help="Names in the query whose values are lists: a,b is sent as two",
    ),
    _way(
        "paging",
        "none",
        one_of("none", "page", "offset", "cursor", "link", "next"),
        "How the next page is asked for",
    ),
    _way("page_first", 1, whole(0, 1), "The number of the first page"),
    _way("page_size", 100, whole(1, 10_000), "What {limit} stands for"),
    _expression("cursor", "", "Where the next cursor stands in an answer, as JMESPath", identity=False),
    _expression("next", "", "Where the next page's address stands in an answer", identity=False),
    _expression("total", "", "Where an answer says how many items there are", identity=False),
    _expression("items", "@", "Where the items stand in an answer"),
    _expression("id", "id", "Where its id stands in an item"),
    _expression("title", "not_null(title, name)", "Where its title stands in an item"),
    _expression(
        "text",
        "not_null(text, description, content, body)",
        "Where its text stands: text, HTML, lists and objects are made readable",
    ),
    _expression("updated", "", "Where an item says when it last changed"),
    _expression("url", "", "Where the address of an item's page stands"),
    Param(
        name="url_template",
        default="",
        parse=template,
        identity=False,
        help="The page of an item for people, with {id}",
    ),
    Param(
        name="meta",
        key=_name,
        default={},
        parse=str.strip,
        identity=True,
        help="Metadata to filter by, each as JMESPath",
    ),
    Param(
        name="offer",
        key=_offer_name,
        default={},
        parse=str.strip,
        identity=True,
        help=f"Items are offers of work: {', '.join(OFFER)}",
    ),
    Param(
        name="detail",
        default="",
        parse=_detail,
        identity=True,
        secret=True,
        help="The path of one item, with {id}: asked for what is new or changed, and found under `detail`",
    ),
    Param(
        name="window",
        default="none",
        parse=one_of("none", "date"),
        identity=True,
        help="none: the whole list each time; date: what changed since, then history day by day",
    ),
    _way("order", "none", one_of("desc", "asc", "none"), "How the list is sorted by `updated`"),
    _way(
        "date_format",
        "iso",
        one_of("iso", "date", "unix", "unix_ms"),
        "How {since} and {until} are written",
    ),
    Param(
        name="bucket",
        key=_name,
        default={},
        parse=_span,
        identity=False,
        help="What {bucket} may be, each with the age it reaches: 7d, or any",
    ),
    _way("overlap", 86_400.0, duration_s, "How far a window reaches back before the last one"),
    _way("seed_days", 0, Days(0, 20_000), "Days of history wanted, counted from the day it was added"),
    _way("seed_windows", 7, Days(1, 1000), "Days of history taken in one turn"),
    _way("max_pages", 10_000, whole(1, 1_000_000), "Pages of the list asked for in one run"),
    _way("max_items", None, optional(whole(1, 100_000_000)), "Items taken in one run; none for all"),
    _way(
        "recheck",
        0,
        whole(0, 100_000),
        "Known items asked for by `detail` in one run, to see if they are gone",
    ),
    *SHARED,
)
