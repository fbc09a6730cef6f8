"""Which addresses belong to a source.

Looks at the address alone: robots.txt, depth and the page budget are decided elsewhere. Addresses are
expected as `urls.normalise` spells them.

Patterns: `*` is any run of characters inside one path segment, `**` any run at all, `?` one character that is
not a slash. A pattern is matched in full against the path with its query, and against the whole address; one
without a slash (`*.pdf`) means that name in any folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal

from rowen.core.web import urls
from rowen.errors import BadLocation
from rowen.records import dataclass

OUT_OF_SCOPE = "out_of_scope"
EXCLUDED = "excluded"
NOT_INCLUDED = "not_included"
ASSET = "asset"

ScopeMode = Literal["subpages", "host", "domain"]

# Bounds the memory of a crawl that never ends; a site of ordinary size fits.
_MAX_REMEMBERED = 100_000

# fmt: off
_ASSET_EXTENSIONS = frozenset((
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "svgz", "ico", "bmp", "tif", "tiff", "psd", "eps",
    "css", "scss", "less", "js", "mjs", "cjs", "map", "wasm", "woff", "woff2", "ttf", "otf", "eot",
    "mp3", "mp4", "m4a", "m4v", "ogg", "oga", "ogv", "opus", "webm", "wav", "flac", "avi", "mov", "mkv",
    "zip", "gz", "tgz", "bz2", "tbz", "xz", "txz", "zst", "7z", "rar", "tar", "whl", "egg", "jar", "war",
    "deb", "rpm", "apk", "dmg", "pkg", "msi", "exe", "iso", "img", "bin", "so", "dll", "dylib", "crate",
    "asc", "sig", "sha256", "sha512", "md5", "torrent", "ics", "swf",
))
_TEXT_ASSETS = frozenset(("css", "scss", "less", "js", "mjs", "cjs", "asc", "ics"))
_BINARY_ENDINGS = frozenset((
    "pyc", "pyo", "pyd", "class", "o", "a", "obj", "lib", "db", "sqlite", "sqlite3", "parquet", "npy", "npz",
    "pkl", "pickle", "onnx", "safetensors", "pt", "h5", "mo", "node", "lockb", "keystore", "jks", "p12",
))
_PAGE_EXTENSIONS = frozenset((
    "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi", "md", "markdown", "rst", "txt",
    "xml", "json", "pdf",
))
# fmt: on
_FILE_EXTENSIONS = _ASSET_EXTENSIONS | _PAGE_EXTENSIONS
NO_TEXT_ENDINGS = _BINARY_ENDINGS | (_ASSET_EXTENSIONS - _TEXT_ASSETS)
"""Of names whose files are no text."""


@dataclass(frozen=True, slots=True)
class Scope:
    root: str
    mode: ScopeMode = "subpages"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _root: str = field(init=False, repr=False, compare=False)
    _prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _exact: frozenset[str] = field(init=False, repr=False, compare=False)
    _domain: str = field(init=False, repr=False, compare=False)
    _include: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _exclude: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _answers: dict[str, str | None] = field(init=False, repr=False, compare=False)

    @classmethod
    def from_settings(cls, root: str, settings: Mapping[str, Any]) -> Scope:
        return cls(root, settings["scope"], tuple(settings["include"]), tuple(settings["exclude"]))

    def __post_init__(self) -> None:
        root = urls.normalise(self.root)
        if root is None:
            shown = urls.without_credentials(self.root)
            raise BadLocation(f"`{shown}` is not an http or https address", location=shown)
        netloc = urls.origin_of(root).partition("://")[2]
        path = root.partition("://")[2][len(netloc) :].partition("?")[0]
        directory = _directory(path) if self.mode == "subpages" else "/"
        prefixes = tuple(f"{scheme}://{netloc}{directory}" for scheme in ("https", "http"))
        # A root `/docs` is not in `/docs/`, and it may be linked with a query.
        bare = tuple(prefix.rstrip("/") for prefix in prefixes) if directory != "/" else ()
        domain = urls.host_of(root).removeprefix("www.") if self.mode == "domain" else ""
        for name, value in (
            ("_root", root),
            ("_prefixes", (*prefixes, *(f"{page}?" for page in bare))),
            ("_exact", frozenset(bare)),
            ("_domain", domain),
            ("_include", _compiled(self.include)),
            ("_exclude", _compiled(self.exclude)),
            ("_answers", {root: None}),
        ):
            object.__setattr__(self, name, value)

    def why_not(self, url: str) -> str | None:
        """None when the address may be fetched, else the reason why not."""
        answers = self._answers
        try:
            return answers[url]
        except KeyError:
            if len(answers) >= _MAX_REMEMBERED:
                answers.clear()
                answers[self._root] = None
            answer = answers[url] = self._decide(url)
            return answer

    def _decide(self, url: str) -> str | None:
        if not url.startswith(self._prefixes) and url not in self._exact and not self._in_domain(url):
            return OUT_OF_SCOPE
        path = url.partition("?")[0] if "?" in url else url
        if path[path.rfind(".") + 1 :].lower() in _ASSET_EXTENSIONS:
            return ASSET
        if self._exclude is not None and _matches(self._exclude, url):
            return EXCLUDED
        if self._include is not None and not _matches(self._include, url):
            return NOT_INCLUDED
        return None

    def _in_domain(self, url: str) -> bool:
        if not self._domain:
            return False
        host = urls.host_of(url)
        return host == self._domain or host.endswith("." + self._domain)


@dataclass(frozen=True, slots=True)
class PathFilter:
    """Include and exclude globs over the paths of a folder or repository."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _include: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _exclude: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, globs in (("_include", self.include), ("_exclude", self.exclude)):
            rooted = (
                glob if glob.startswith(("/", "**")) or "/" not in glob else f"/{glob}" for glob in globs
            )
            object.__setattr__(self, name, _compiled(rooted))

    @property
    def everything(self) -> bool:
        """Whether every path belongs to the source."""
        return self._include is None and self._exclude is None

    def why_not(self, path: str) -> str | None:
        """None when the file belongs to the source; `path` is relative, with forward slashes."""
        if self._exclude is not None and self._exclude.fullmatch(f"/{path}"):
            return EXCLUDED
        if self._include is not None and not self._include.fullmatch(f"/{path}"):
            return NOT_INCLUDED
        return None


def is_binary_name(path: str) -> bool:
    """Its ending alone says that a file is no text: it need not be opened to know."""
    return path[path.rfind(".") + 1 :].lower() in NO_TEXT_ENDINGS


def is_hidden(path: str) -> bool:
    """Does its name, or that of a folder above it, begin with a dot?"""
    return path.startswith(".") or "/." in path


def _directory(path: str) -> str:
    """The folder a root stands for: `/docs/` for `/docs/index.html`, while `/docs/3.11` is one itself."""
    folder, _, name = path.rpartition("/")
    extension = name.rpartition(".")[2].lower()
    if not name or ("." in name and extension in _FILE_EXTENSIONS):
        return folder + "/"
    return path + "/"


def _matches(pattern: re.Pattern[str], url: str) -> bool:
    if pattern.fullmatch(url):
        return True
    return pattern.fullmatch(url, url.index("/", url.index("://") + 3)) is not None


def _compiled(globs: Iterable[str]) -> re.Pattern[str] | None:
    expressions = [_expression(glob if "/" in glob else f"**/{glob}") for glob in globs]
    return re.compile("|".join(expressions), re.DOTALL) if expressions else None


def _expression(glob: str) -> str:
    """A regular expression without runaway backtracking: at worst quadratic in the length of an address.

    Between two `**` the earliest place that fits is as good as any later one, so it is taken for good (an
    atomic group). The same holds for every `*` but the last one, which must be free to reach the end.
    """
    first, *rest = re.split(r"\*{2,}", glob)
    if not rest:
        return _piece(first, to_end=True)
    middle = "".join(f"(?>.*?{_piece(piece, to_end=False)})" for piece in rest[:-1])
    return f"{_piece(first, to_end=False)}{middle}.*{_piece(rest[-1], to_end=True)}"


def _piece(glob: str, *, to_end: bool) -> str:
    first, *rest = ("".join("[^/]" if c == "?" else re.escape(c) for c in part) for part in glob.split("*"))
    last = f"[^/]*{rest.pop()}" if to_end and rest else ""
    return first + "".join(f"(?>[^/]*?{part})" for part in rest) + last
