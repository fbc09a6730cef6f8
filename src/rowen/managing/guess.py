"""What a person means by `docs.python.org/3`: the whole address, and a short name for it.

Pure: whether a path of that name exists is told by the caller, and asking the server is for others. What
could be two things is refused, with both ways to write it.
"""

from __future__ import annotations

import re
from collections.abc import Container
from urllib.parse import unquote, urlsplit

from rowen.core.safety.addresses import is_public, parse_address
from rowen.core.web.urls import without_credentials
from rowen.errors import BadLocation, UserError
from rowen.records import dataclass

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::\d{1,5})?(?:[/?#].*)?")
_LIKE_A_PATH = ("./", "../", "/", "~", "file:")
_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test")
# fmt: off
_FILE_ENDINGS = frozenset((
    "adoc", "c", "cfg", "csv", "doc", "docx", "epub", "go", "h", "htm", "html", "ini", "ipynb",
    "java", "js", "json", "log", "md", "mdx", "odt", "pdf", "ppt", "pptx", "py", "rs", "rst", "sh",
    "tex", "toml", "ts", "tsv", "txt", "xls", "xlsx", "xml", "yaml", "yml", "zip",
))
_COMMON_LABELS = frozenset((
    "api", "book", "dev", "developer", "developers", "doc", "docs", "documentation", "guide",
    "handbook", "help", "learn", "manual", "reference", "support", "wiki", "www",
))
_SECOND_LEVELS = frozenset((
    "ac", "co", "com", "edu", "gob", "gov", "gouv", "net", "or", "org",
))
# fmt: on
_MANY_SITES = (
    "github.io",
    "gitlab.io",
    "gitbook.io",
    "netlify.app",
    "pages.dev",
    "readthedocs.io",
    "vercel.app",
)
"""Where everybody has a site of their own: the first label says whose it is."""
MAX_NAME_CHARS = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Guess:
    locations: tuple[str, ...]
    """What it may be, in the order to try."""
    said: str | None = None
    """What was guessed, in a sentence; None when the location was complete."""


def complete(location: str, *, exists: bool, kind: str | None = None) -> Guess:
    """The whole address of a location. Raises `BadLocation` when it can be two things.

    A caller who names a kind may mean something only that kind knows.
    """
    text = location.strip()
    found = _ADDRESS.fullmatch(text)
    if exists:
        looks = found is not None and _is_a_host(found[1]) and "." in found[1] and not text.startswith(".")
        said = f"a path of that name is here: for the site, write `https://{text}`" if looks else None
        return Guess(locations=(text,), said=said)
    if "://" in text or text.startswith(_LIKE_A_PATH) or "@" in text or found is None:
        return Guess(locations=(text,))
    host, has_port = found[1], found[0].startswith(f"{found[1]}:")
    if not _is_a_host(host, bare=found[0] == host) and not has_port:
        if kind is not None:
            return Guess(locations=(text,))
        raise _ambiguous(text)
    if is_local(host) or (has_port and "." not in host):
        locations = (f"http://{text}", f"https://{text}")
        return Guess(locations=locations, said=f"`http` guessed: write `https://{text}` if that is meant")
    return Guess(
        locations=(f"https://{text}",), said=f"`https` guessed: write `http://{text}` if that is meant"
    )


def is_local(host: str) -> bool:
    """Is it a host of this machine or of a network at home or in a company?"""
    host = host.strip("[]").lower()
    try:
        return not is_public(parse_address(host))
    except ValueError:
        return host == "localhost" or host.endswith(_LOCAL_ENDINGS)


def name_of(location: str) -> str:
    """A name for what is at a whole address or path: `https://docs.python.org/3/` becomes `python`."""
    scheme, separator, rest = location.strip().removeprefix("git+").partition("://")
    if scheme in ("http", "https") and separator:
        name = _name_of_site(location.strip().removeprefix("git+"))
    else:
        path = re.split(r"[/\\:]", unquote(rest or scheme).rstrip("/\\"))
        name = _without_ending(path[-1])
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:MAX_NAME_CHARS]
    if not name:
        shown = without_credentials(location)
        if separator and not rest.strip("/"):
            raise UserError(
                f"location `{shown}`: no host in it", hint="for example `https://docs.example.org`"
            )
        raise UserError(f"location `{shown}`: no name can be guessed from it", hint="give one with `--name`")
    return name


def unused(name: str, taken: Container[str]) -> str:
    """The name, or the first of `name-2`, `name-3`, ... that is free."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name[: MAX_NAME_CHARS - len(str(number)) - 1]}-{number}"
    return free


def _name_of_site(location: str) -> str:
    parts = urlsplit(location)
    host, path = (parts.hostname or "").lower(), [unquote(one) for one in parts.path.split("/") if one]
    if (
        host.removeprefix("www.") in ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org")
        and len(path) > 1
    ):
        return path[1].removesuffix(".git")
    if location.rstrip("/").endswith(".git"):
        return path[-1].removesuffix(".git")
    if is_local(host) and "." in host.rstrip(".") and not host.endswith(_LOCAL_ENDINGS):
        # An address in figures says nothing; what it has below may.
        return _first_word(path) or f"{host}-{parts.port}" if parts.port else host
    if host.endswith((".github.io", ".gitlab.io")) and path:
        return path[0]
    labels = host.split(".")
    if not host.endswith(_MANY_SITES) and len(labels) > 1:
        labels.pop()
        if len(labels) > 1 and labels[-1] in _SECOND_LEVELS:
            labels.pop()
    telling = [label for label in labels if label not in _COMMON_LABELS]
    return (
        (telling or labels)[0]
        if parts.port is None or telling != ["localhost"]
        else f"localhost-{parts.port}"
    )


def _first_word(path: list[str]) -> str:
    return next((_without_ending(one) for one in path if re.search("[A-Za-z]{2}", one)), "")


def _without_ending(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return stem if dot and stem and ending.lower() in _FILE_ENDINGS | {"git"} else name


def _is_a_host(host: str, *, bare: bool = False) -> bool:
    if host.startswith("[") or host.lower() == "localhost":
        return True
    labels = host.split(".")
    if all(label.isdigit() for label in labels):
        return len(labels) == 4
    last = labels[-1]
    if len(labels) < 2 or not last.isalpha() or len(last) < 2:
        return False
    # `notes.md` is a file that is not there more often than a site in Moldova.
    return not (bare and len(labels) == 2 and last.lower() in _FILE_ENDINGS)


def _ambiguous(text: str) -> BadLocation:
    hint = f"write `https://{text}` for a site, or `./{text}` for a path"
    if text.count("/") == 1:
        hint = f"write `./{text}` for a path, or `github.com/{text}` for a repository"
    return BadLocation(
        f"location `{text}`: no such path here, and not the address of a site", hint=hint, location=text
    )
