"""What a person is told of a site that refuses as a whole: it has moved, or robots.txt closes it."""

from __future__ import annotations

from rowen.core.source import Source
from rowen.core.web import urls
from rowen.errors import Unfetchable

FORBIDDEN = frozenset({401, 403})
LOGIN_PAGE = "login_page"


def moved_hint(source: Source, target: str) -> str:
    return f"if it has moved for good: `rowen add {target} --name NAME`, then `rowen remove {source.label}`"


def moved(source: Source, target: str) -> Unfetchable:
    """The root leads to another site, and so do its pages."""
    return Unfetchable(
        f"`{source.location}`: the site has moved, its pages redirect to `{urls.origin_of(target)}`",
        hint=moved_hint(source, target),
        url=source.location,
    )


def closed(source: Source) -> Unfetchable:
    """Readers keep what was read while it was allowed; whether it should go is for a person to say."""
    return Unfetchable(
        f"robots.txt forbids `{source.location}` and all that is known below it",
        hint=f"for a site of your own, `rowen edit {source.label} --set robots=false`; else"
        f" `rowen remove {source.label}`",
        url=source.location,
    )
