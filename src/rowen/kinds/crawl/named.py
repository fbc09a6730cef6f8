"""A crawl that is told which pages have changed: which of them are this site's, and what it may ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rowen.core.source import Source
from rowen.core.web import urls
from rowen.fetching.robots import Robots
from rowen.ports.store.store import Store

NOT_AN_ADDRESS = "not_an_address"


def pages_in_scope(
    named: Sequence[str],
    *,
    base: str,
    aliases: Mapping[str, str],
    why_not: Callable[[str], str | None],
    ignored: Counter[str],
) -> list[str]:
    """The pages to ask for; another name of a page stands for it. What is not ours is counted."""
    pages: dict[str, None] = {}
    for text in named:
        url = urls.normalise(text, base)
        if url is None:
            ignored[NOT_AN_ADDRESS] += 1
            continue
        url = aliases.get(url, url)
        reason = why_not(url)
        if reason is None:
            pages[url] = None
        else:
            ignored[reason] += 1
    return list(pages)


async def robots_at_hand(store: Store, source: Source, url: str) -> Robots | None:
    """For a few pages, what their host said when all of it was asked will do."""
    remembered = (await store.listings(source.id)).get(urls.origin_of(url) + "/robots.txt")
    return Robots.parse(remembered.payload) if remembered is not None else None
