"""Which bodies can be converted, said from the type and the address alone. Imports nothing heavy.

What the first bytes give away (a PDF called octet-stream, a spreadsheet called zip) `sniff` says: it has the
body, which has not come yet when this is asked.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class PluginFormat(NamedTuple):
    """A format that a plug-in reads."""

    target: str
    """Its function: `module:attribute`."""
    package: str
    """The package it came with, for messages."""


class Kind(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    PLAIN = "plain"
    MDX = "mdx"
    RST = "rst"
    ASCIIDOC = "asciidoc"
    JSON = "json"
    JSON_LINES = "jsonl"
    YAML = "yaml"
    TOML = "toml"
    INI = "ini"
    XML = "xml"
    CODE = "code"
    NOTEBOOK = "notebook"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"


_OFFICE = "application/vnd.openxmlformats-officedocument."
_TYPES = {
    "text/html": Kind.HTML, "application/xhtml+xml": Kind.HTML,
    "text/markdown": Kind.MARKDOWN, "text/x-markdown": Kind.MARKDOWN, "text/mdx": Kind.MDX,
    "text/plain": Kind.PLAIN,
    "text/x-rst": Kind.RST, "text/prs.fallenstein.rst": Kind.RST,
    "text/asciidoc": Kind.ASCIIDOC, "text/x-asciidoc": Kind.ASCIIDOC,
    "application/json": Kind.JSON, "text/json": Kind.JSON,
    "application/openapi+json": Kind.JSON, "application/vnd.oai.openapi+json": Kind.JSON,
    "application/vnd.oai.openapi": Kind.YAML, "application/openapi+yaml": Kind.YAML,
    "application/jsonl": Kind.JSON_LINES, "application/x-ndjson": Kind.JSON_LINES,
    "application/yaml": Kind.YAML, "application/x-yaml": Kind.YAML,
    "text/yaml": Kind.YAML, "text/x-yaml": Kind.YAML, "application/toml": Kind.TOML,
    "application/x-ipynb+json": Kind.NOTEBOOK,
    "application/pdf": Kind.PDF, "application/x-pdf": Kind.PDF,
    f"{_OFFICE}wordprocessingml.document": Kind.DOCX,
    f"{_OFFICE}presentationml.presentation": Kind.PPTX,
    f"{_OFFICE}spreadsheetml.sheet": Kind.XLSX,
}  # fmt: skip
_ENDINGS = {
    "html": Kind.HTML, "htm": Kind.HTML, "xhtml": Kind.HTML,
    "md": Kind.MARKDOWN, "markdown": Kind.MARKDOWN, "mdown": Kind.MARKDOWN, "mdx": Kind.MDX,
    "mkd": Kind.MARKDOWN, "mkdn": Kind.MARKDOWN, "mdwn": Kind.MARKDOWN, "markdoc": Kind.MARKDOWN,
    "qmd": Kind.MARKDOWN, "rmd": Kind.MARKDOWN, "livemd": Kind.MARKDOWN,
    "txt": Kind.PLAIN, "text": Kind.PLAIN,
    "rst": Kind.RST, "rest": Kind.RST, "adoc": Kind.ASCIIDOC, "asciidoc": Kind.ASCIIDOC,
    "json": Kind.JSON, "json5": Kind.JSON, "jsonc": Kind.JSON, "webmanifest": Kind.JSON,
    "jsonl": Kind.JSON_LINES, "ndjson": Kind.JSON_LINES,
    "yaml": Kind.YAML, "yml": Kind.YAML, "toml": Kind.TOML,
    "ini": Kind.INI, "cfg": Kind.INI, "conf": Kind.INI, "properties": Kind.INI,
    "xml": Kind.XML, "xsd": Kind.XML, "xsl": Kind.XML, "xslt": Kind.XML, "wsdl": Kind.XML, "plist": Kind.XML,
    "csproj": Kind.XML, "props": Kind.XML, "targets": Kind.XML, "resx": Kind.XML, "xaml": Kind.XML,
    "ipynb": Kind.NOTEBOOK,
    "pdf": Kind.PDF, "docx": Kind.DOCX, "docm": Kind.DOCX, "pptx": Kind.PPTX, "pptm": Kind.PPTX,
    "xlsx": Kind.XLSX, "xlsm": Kind.XLSX,
}  # fmt: skip
_MARKUP = frozenset((Kind.MARKDOWN, Kind.MDX, Kind.RST, Kind.ASCIIDOC))

# The names are those of code fences: what highlights a block here highlights it elsewhere.
_LANGUAGES = {
    "py": "python", "pyi": "python", "pyw": "python", "pyx": "cython",
    "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "jsx",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
    "vue": "vue", "svelte": "svelte",
    "go": "go", "rs": "rust", "zig": "zig", "nim": "nim", "v": "verilog", "sv": "verilog", "d": "d",
    "java": "java", "kt": "kotlin", "kts": "kotlin", "scala": "scala", "sc": "scala", "groovy": "groovy",
    "gradle": "groovy",
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp",
    "cu": "cpp", "ino": "cpp", "m": "objectivec", "mm": "objectivec",
    "cs": "csharp", "fs": "fsharp", "fsx": "fsharp", "vb": "vb", "swift": "swift", "dart": "dart",
    "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "php": "php", "pl": "perl", "pm": "perl", "lua": "lua",
    "sh": "bash", "bash": "bash", "zsh": "bash", "ksh": "bash", "fish": "fish", "ps1": "powershell",
    "psm1": "powershell", "bat": "batch", "cmd": "batch",
    "sql": "sql", "r": "r", "jl": "julia", "ex": "elixir", "exs": "elixir", "erl": "erlang", "hrl": "erlang",
    "hs": "haskell", "elm": "elm", "ml": "ocaml", "mli": "ocaml", "clj": "clojure", "cljs": "clojure",
    "cljc": "clojure", "el": "lisp", "lisp": "lisp", "scm": "scheme", "rkt": "scheme",
    "f90": "fortran", "f95": "fortran", "f": "fortran", "pas": "pascal", "adb": "ada", "ads": "ada",
    "proto": "protobuf", "graphql": "graphql", "gql": "graphql", "thrift": "thrift",
    "tf": "terraform", "hcl": "terraform", "nix": "nix", "cmake": "cmake", "mk": "makefile",
    "css": "css", "scss": "scss", "less": "less", "sol": "solidity", "vim": "vim", "awk": "awk",
}  # fmt: skip
_LANGUAGES_BY_NAME = {
    "makefile": "makefile", "gnumakefile": "makefile", "dockerfile": "dockerfile",
    "containerfile": "dockerfile", "jenkinsfile": "groovy", "rakefile": "ruby", "gemfile": "ruby",
    "cmakelists.txt": "cmake", "justfile": "makefile", "build.bazel": "python",
}  # fmt: skip
_LANGUAGES_BY_TYPE = {
    "text/x-python": "python", "text/x-script.python": "python", "application/x-python-code": "python",
    "text/x-c": "c", "text/x-csrc": "c", "text/x-chdr": "c", "text/x-c++": "cpp", "text/x-c++src": "cpp",
    "text/x-java": "java", "text/x-java-source": "java", "text/x-go": "go", "text/x-rust": "rust",
    "text/x-ruby": "ruby", "text/x-sh": "bash", "application/x-sh": "bash", "text/x-sql": "sql",
    "application/sql": "sql", "text/x-perl": "perl", "text/x-lua": "lua", "text/x-scala": "scala",
    "text/x-kotlin": "kotlin", "text/x-haskell": "haskell", "text/x-csharp": "csharp",
}  # fmt: skip
_SAYS_NOTHING = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/x-unknown"))
# Of the XML and script types of the web nothing is listed: they are feeds, sitemaps and assets. As files of
# a folder or a repository they come without a type, and their ending decides.


def kind_of(content_type: str, url: str) -> Kind | None:
    """What a body is, or None when it is nothing we read."""
    media_type = content_type.partition(";")[0].strip().lower()
    kind = _TYPES.get(media_type)
    if kind is None and media_type in _LANGUAGES_BY_TYPE:
        return Kind.CODE
    if kind is not None and kind not in (Kind.PLAIN, Kind.JSON):
        return kind
    if kind is None and media_type not in _SAYS_NOTHING:
        return None
    name = name_of(url).lower()
    if kind is Kind.PLAIN and name.startswith("llms"):
        # llms.txt is Markdown by its own rules.
        return Kind.MARKDOWN
    by_name = _by_name(name)
    if kind is Kind.JSON:
        # A notebook is JSON, and servers that know no notebooks call it so.
        return by_name if by_name in (Kind.NOTEBOOK, Kind.JSON_LINES) else kind
    if by_name is not None:
        # Servers call what they do not know plain text.
        return by_name
    if not media_type and "." not in name and (not url or url.startswith(("http:", "https:"))):
        return Kind.HTML
    return kind


def plugin_names(content_type: str, url: str) -> list[str]:
    """The content type and the ending (`.srt`) that a plug-in may read: those that are not ours.

    None when we know the type. A type that says nothing, or plain text, leaves the decision to the ending.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    name = name_of(url).lower()
    if reads(media_type) and _TYPES.get(media_type) is not Kind.PLAIN:
        return []
    says_nothing = media_type in _SAYS_NOTHING or media_type in _TYPES
    ending = f".{_ending(name)}"
    is_ours = _by_name(name) is not None or ending == "."
    return [*([] if says_nothing else [media_type]), *([] if is_ours else [ending])]


def reads(name: str) -> bool:
    """Is a content type, or an ending with its dot, one of ours?"""
    if name.startswith("."):
        return name[1:] in _ENDINGS or name[1:] in _LANGUAGES
    return name in _TYPES or name in _LANGUAGES_BY_TYPE


def language_of(content_type: str, url: str) -> str:
    """The language of source code as a code fence names it; empty when nothing says."""
    name = name_of(url).lower()
    by_type = _LANGUAGES_BY_TYPE.get(content_type.partition(";")[0].strip().lower(), "")
    return _LANGUAGES.get(_ending(name)) or _LANGUAGES_BY_NAME.get(name) or by_type


def name_of(url: str) -> str:
    """The last segment of an address or path, as it is written there."""
    return url.partition("#")[0].partition("?")[0].rpartition("/")[2]


def _by_name(name: str) -> Kind | None:
    if name in _LANGUAGES_BY_NAME:
        return Kind.CODE
    # Documentation generators serve the sources of their pages as `page.rst.txt`.
    within = _ENDINGS.get(_ending(name.removesuffix(".txt"))) if name.endswith(".txt") else None
    if within in _MARKUP:
        return within
    ending = _ending(name)
    return _ENDINGS.get(ending) or (Kind.CODE if ending in _LANGUAGES else None)


def _ending(name: str) -> str:
    return name.rpartition(".")[2] if "." in name else ""
