"""One spelling for each address: the URL rules of browsers (WHATWG), then ours on top.

Ours: no fragment, no credentials, no tracking parameters, no session ids, query parameters in order, one
percent-encoding.
It does not look at the network, and it does not judge whether an address may be fetched: `scope` and the
fetcher do.
"""

from __future__ import annotations

import re
from operator import itemgetter

from rowen.core.web.whatwg import joined, normal, without_login
from rowen.patterns import pattern

MAX_CHARS = 2_000

# A link longer than this is not worth parsing: `data:` images of megabytes are common in pages.
_MAX_RAW_CHARS = 16_000

# `ref` is missing on purpose: repositories use it to name a branch.
# fmt: off
_TRACKING = frozenset((
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "ysclid", "twclid",
    "ttclid", "li_fat_id", "igshid", "igsh", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "__hssc",
    "__hstc", "__hsfp", "hsctatracking", "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "vero_conv",
    "rb_clickid", "wickedid", "_openstat", "srsltid", "pk_campaign", "pk_kwd", "pk_source", "pk_medium",
    "phpsessid", "jsessionid",
))
# fmt: on
_TRACKING_PREFIXES = ("utm_", "mtm_", "aspsessionid")
_SESSION_IN_PATH = pattern(r";jsessionid=[^/?;]*", re.IGNORECASE)

_PERCENT = pattern("%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {
    f"%{high}{low}": chr(int(high + low, 16)) if chr(int(high + low, 16)) in _UNRESERVED
    # Upper case is what RFC 3986 prefers and what parsers produce when they encode.
    else f"%{high}{low}".upper()
    for high in "0123456789abcdefABCDEF"
    for low in "0123456789abcdefABCDEF"
}  # fmt: skip
# A lone percent sign is written as one: left as it is, it could swallow a digit that was decoded after it.
_ESCAPES["%"] = "%25"

_SCHEME_ENDS = {"http:": 7, "https": 8}
_SECRET_NAME = pattern(
    r"(?:.*[_-])?(?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|token|secret|password|passwd|sig|signature)",
    re.IGNORECASE,
)
_BROKEN_CREDENTIALS = pattern(r"^(\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2,})?.*@", re.DOTALL)
_INDEX_NAMES = frozenset(("index", "index.html", "index.htm", "default.html", "default.htm"))


def normalise(url: str, base: str | None = None) -> str | None:
    """The absolute http(s) address of a link, or None when it is not one.

    Two links that lead to the same page by the rules of this module come out as the same string; what
    comes out goes in again unchanged.
    """
    if len(url) > _MAX_RAW_CHARS:
        return None
    try:
        href = normal(url) if base is None else joined(base, url)
    except ValueError:
        return None
    start = _SCHEME_ENDS.get(href[:5])
    if start is None or href[start - 2] != "/":
        return None
    if "#" in href:
        href = href[: href.index("#")]
    slash = href.index("/", start)
    at = href.rfind("@", start, slash)
    if at >= 0:
        href = href[:start] + href[at + 1 :]
    if "%" in href:
        href = _PERCENT.sub(lambda escape: _ESCAPES[escape[0]], href)
    if ";" in href:
        href = _SESSION_IN_PATH.sub("", href)
    if "?" in href:
        page, _, query = href.partition("?")
        query = _sorted_query(query)
        href = f"{page}?{query}" if query else page
    return href if len(href) <= MAX_CHARS else None


def host_of(url: str) -> str:
    """The host name, lower-case, without port; empty when this is not an http(s) address."""
    _, netloc, _ = _split(url)
    # The colons of an IPv6 address stand inside brackets.
    return netloc if netloc.endswith("]") else netloc.rpartition(":")[0] or netloc


def origin_of(url: str) -> str:
    """`scheme://host[:port]`; empty when this is not an http(s) address."""
    scheme, netloc, _ = _split(url)
    return scheme + netloc


def secret_parameter(url: str) -> str | None:
    """The name of a query parameter that looks like a key, if there is one with a value."""
    for pair in url.partition("#")[0].partition("?")[2].split("&"):
        name, _, value = pair.partition("=")
        if value and _SECRET_NAME.fullmatch(name):
            return name
    return None


def without_credentials(url: str) -> str:
    """The address for messages and logs. Where it cannot be parsed, rather too much goes than too little."""
    if "@" not in url:
        return url
    try:
        href = normal(url)
    except ValueError:
        return _BROKEN_CREDENTIALS.sub(r"\1", url)
    scheme, separator, rest = href.partition("://")
    if not separator:
        # A `user:password@host` without scheme parses as the scheme `user:`; `mailto:` is the innocent one.
        return url if scheme.startswith("mailto:") else _BROKEN_CREDENTIALS.sub(r"\1", url)
    if "@" not in rest.partition("/")[0]:
        return url
    return without_login(url)


def is_variant_of_same_page(a: str, b: str) -> bool:
    """Do these differ only in ways one page is commonly served under? Then a canonical link is believed."""
    return a == b or _page_key(a) == _page_key(b) != ("", "")


def _sorted_query(query: str) -> str:
    pairs = [(pair.partition("=")[0], pair) for pair in query.split("&") if pair]
    kept = [(key, pair) for key, pair in pairs if not _is_tracking(key.lower())]
    kept.sort(key=itemgetter(0))
    return "&".join([pair for _, pair in kept])


def _is_tracking(key: str) -> bool:
    return key in _TRACKING or key.startswith(_TRACKING_PREFIXES)


def _split(url: str) -> tuple[str, str, str]:
    """`https://`, `host:port` and `/path`, the query cut off; empty strings when it is not http(s)."""
    href = normalise(url)
    if href is None:
        return "", "", ""
    start = _SCHEME_ENDS[href[:5]]
    slash = href.index("/", start)
    return href[:start], href[start:slash], href[slash:].partition("?")[0]


def _page_key(url: str) -> tuple[str, str]:
    _, netloc, path = _split(url)
    path = path.lower()
    directory, _, name = path.rpartition("/")
    if name in _INDEX_NAMES:
        path = directory
    path = path.rstrip("/")
    return netloc, path.removesuffix(".html").removesuffix(".htm")
