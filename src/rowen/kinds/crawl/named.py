"""A crawl that is told which pages have changed: which of them are this site's, and what it may ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rowen.core.web import urls

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
