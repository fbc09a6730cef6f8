"""What the first line of a definition looks like, language by language.

Patterns are tried on a line without its indentation. Group `k` is the keyword that goes in front of the name,
group `n` the name. They are meant to be right about well-laid-out code, not to parse: a definition that is
missed stays with the one before it, and nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_MAX_LINE_CHARS = 400
"""No definition begins with a longer line; minified code does, and the patterns would be slow on it."""

CONTAINERS = frozenset((
    "class", "struct", "interface", "enum", "namespace", "module", "trait", "impl", "object", "record",
    "extension", "protocol", "actor", "mixin", "union", "mod", "defmodule", "defimpl", "defprotocol",
    "contract", "library", "service", "package", "body", "message", "@interface", "@implementation",
    "@protocol",
))  # fmt: skip
"""Keywords of definitions that have members worth a heading of their own."""

# Words before a parenthesis that make it no function.
_CONTROL = frozenset((
    "if", "else", "for", "foreach", "while", "do", "switch", "case", "catch", "try", "return", "throw",
    "new", "await", "yield", "using", "lock", "sizeof", "typeof", "delete", "assert", "synchronized",
    "with", "match", "when", "guard", "until", "unless", "elif", "elsif", "except", "super", "this",
    "function", "defined", "fixed", "checked", "print", "echo", "include", "require", "import", "not",
    "and", "or", "in", "is", "defer", "go", "select", "static_assert", "goto", "default", "OF",
))  # fmt: skip

_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed|open|data|inner|partial|"
    r"readonly|ref|override|case|implicit|lazy|value|annotation|enum|companion|fileprivate|indirect|strictfp|"
    r"unsafe|async|virtual|extern|suspend|inline|operator|infix|tailrec|external|actual|expect|mutating|"
    r"export|default|declare|const|native|synchronized|transient|volatile|required|convenience|late|covariant|"
    r"factory|dynamic|nonisolated|package|@\w+(?:\([^()]*\))?)\s+)*"
)
# One level inside another, each closed by its own mark: otherwise the tries multiply.
_ANGLES = r"(?:<[^()<>]*(?:<[^()<>]*>[^()<>]*)*>)?"
_JS = (
    r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const\s+(?=enum))?"
    r"(?P<k>function|class|interface|enum|namespace|module|type)(?:\s*\*\s*|\s+)(?P<n>[\w$.]+)",
    r"(?:export\s+)?(?:declare\s+)?(?P<k>const|let|var)\s+(?P<n>[\w$]+)",
    r"(?:module\.)?exports\.(?P<n>[\w$]+)\s*=",
    r"(?P<n>[\w$]+(?:\.prototype)?\.[\w$]+)\s*=\s*(?:async\s+)?(?:function\b|\()",
)
_JS_INNER = (
    r"(?:(?:public|private|protected|static|readonly|async|get|set|override|abstract)\s+)*\*?\s*"
    r"(?P<n>#?[\w$]+)\s*(?:<[^<>]*>)?\((?:[^;{]|\{[^}]*\})*\{\s*$",
    r"(?:(?:public|private|protected|static|readonly)\s+)*(?P<n>#?[\w$]+)\s*=\s*(?:async\s*)?\([^;]*=>",
)
_TYPE_WORDS = (
    r"(?P<k>class|interface|enum|struct|record|object|trait|namespace|extension|protocol|actor|mixin|module|"
    r"typealias|@interface)\s+(?!func\b|var\b|let\b|class\b|struct\b)(?P<n>[\w.`]+)"
)
_METHOD = (
    r"(?:[\w.]+" + _ANGLES + r"(?:\[\])*\??\s+)+(?P<n>[A-Za-z_~]\w*)\s*(?:<[^<>]*>)?\s*\((?!.*;\s*$)",
    r"(?P<n>[A-Z]\w*)\s*\([^;]*\)\s*(?::[^;]*)?\{\s*$",
)
_JAVA = (_MODIFIERS + _TYPE_WORDS, *_METHOD)
_C = (
    r"(?:typedef\s+)?(?P<k>struct|class|enum(?:\s+class|\s+struct)?|union|namespace|@interface|@implementation|"
    r"@protocol)\s+(?:\[\[[^\]]*\]\]\s*|\w+\([^()]*\)\s*)?(?P<n>[\w:]+)[^;()=]*$",
    r"#\s*(?P<k>define)\s+(?P<n>\w+)\(",
    r"(?P<k>using)\s+(?P<n>\w+)\s*=",
    r"[-+]\s*\([^()]*\)\s*(?P<n>\w+)",
    r"(?!typedef\b)(?:[A-Za-z_]\w*[\s*]+)+(?P<n>\w+)\s+[A-Z_]+\(\(",  # prototypes for compilers of old
    r"(?!typedef\b)(?:[A-Za-z_][\w:]*"
    + _ANGLES
    + r"[\s*&]+)+(?P<n>(?:\w+(?:<[^<>]*>)?::)*~?\w+|operator\S+)\s*\(",
    r"(?P<n>[A-Za-z_]\w*(?:::~?\w+)*)\s*\([^;]*$",
)
_HASKELL = (
    r"(?P<k>data|newtype|type family|type|class|instance|module|foreign import)\s+"
    r"(?P<n>[^=]+?)\s*(?:\bwhere\b.*|=.*)?$",
    r"(?P<n>[a-z_][\w']*(?:\s*,\s*[a-z_][\w']*)*)\s*::",
)
_ML = (
    r"(?P<k>let|type|module|and|val|exception|class)\s+(?:rec\s+|inline\s+|mutable\s+|private\s+)*(?P<n>[\w']+)",
)
_LISP = (r"\((?P<k>def[\w-]*|define[\w-]*|ns)\s+(?:\^\S+\s+)?\(?(?P<n>[^\s()]+)",)

_PATTERNS: dict[str, tuple[str, ...]] = {
    "python": (r"(?:async\s+)?(?P<k>def|class)\s+(?P<n>\w+)",),
    "cython": (
        r"(?:async\s+)?(?P<k>cdef class|def|class|cpdef|cdef)\s+(?:[\w.*\[\]]+\s+)*(?P<n>\w+)\s*[(:]",
    ),
    **dict.fromkeys(("javascript", "jsx", "typescript", "tsx"), _JS),
    "go": (
        r"(?P<k>func)\s+(?:\(\s*(?:\w+\s+)?\*?(?P<o>\w+)[^()]*\)\s*)?(?P<n>\w+)",
        r"(?P<k>type|var|const)\s+(?P<n>\w+)",
    ),
    "rust": (
        r"(?:pub(?:\([^()]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*"
        r"(?P<k>fn|struct|enum|trait|union|mod|type|macro_rules!|static|const)\s+(?:mut\s+)?(?P<n>\w+)",
        r"(?:unsafe\s+)?(?P<k>impl)(?:\s*<.*?>)?\s+(?P<n>[^{]+?)\s*(?:\bwhere\b.*)?\{?\s*$",
    ),
    "zig": (r"(?:pub\s+)?(?:export\s+)?(?:inline\s+)?(?P<k>fn|const|var)\s+(?P<n>\w+)",),
    "nim": (r"(?P<k>proc|func|method|type|template|macro|iterator|converter)\s+`?(?P<n>\w+)",),
    "java": _JAVA, "csharp": _JAVA, "groovy": (*_JAVA, r"(?P<k>def)\s+(?P<n>\w+)"),
    "d": _C, "c": _C, "cpp": _C, "objectivec": _C,
    "kotlin": (
        _MODIFIERS + r"(?P<k>class|interface|object|typealias)\s+(?P<n>[\w.`]+)",
        _MODIFIERS + r"(?P<k>fun)\s+(?:<[^<>]*>\s*)?(?P<n>[\w.<>?`]+)\s*\(",
        _MODIFIERS + r"(?P<k>val|var)\s+(?:<[^<>]*>\s*)?(?P<n>[\w.`]+)",
    ),
    "scala": (
        _MODIFIERS + r"(?P<k>class|object|trait|enum|extension|def|given|type)\s+(?P<n>[^\s\[({:=]+)",
    ),
    "swift": (
        _MODIFIERS + _TYPE_WORDS,
        _MODIFIERS + r"(?:class\s+)?(?P<k>func|init|deinit|subscript|typealias)\b\s*(?P<n>[^\s(<{=]*)",
    ),
    "dart": (_MODIFIERS + _TYPE_WORDS, *_METHOD),
    "vb": (r"(?i:(?:(?:public|private|friend|shared|overrides)\s+)*(?P<k>class|module|sub|function|structure|"
           r"property|namespace|enum)\s+(?P<n>[\w.]+))",),
    "ruby": (r"(?P<k>class|module)\s+(?P<n>[\w:]+)", r"(?P<k>def)\s+(?:self\.)?(?P<n>[^\s(;]+)"),
    "php": (
        r"(?:(?:abstract|final|readonly|public|private|protected|static)\s+)*"
        r"(?P<k>class|interface|trait|enum|function)\s+&?(?P<n>\w+)",
    ),
    "perl": (r"(?P<k>sub|package)\s+(?P<n>[\w:]+)",),
    "lua": (
        r"(?:local\s+)?(?P<k>function)\s+(?P<n>[\w.:]+)",
        r"(?:local\s+)?(?P<n>[\w.]+)\s*=\s*(?P<k>function)\b",
    ),
    "bash": (r"(?P<k>function)\s+(?P<n>[\w:.-]+)", r"(?P<n>[\w:.-]+)\s*\(\s*\)"),
    "fish": (r"(?P<k>function)\s+(?P<n>\S+)",),
    "powershell": (r"(?i:(?P<k>function|filter|class|enum)\s+(?P<n>[\w:-]+))",),
    "batch": (r":(?P<n>\w+)\s*$",),
    "awk": (r"(?P<k>function)\s+(?P<n>\w+)",),
    "vim": (r"(?P<k>function|def)!?\s+(?P<n>[\w:#.]+)",),
    "sql": (
        r"(?i:(?P<k>create)\s+(?:or\s+replace\s+)?(?:global\s+|local\s+|temp(?:orary)?\s+|unique\s+|virtual\s+|"
        r"recursive\s+|materialized\s+)*"
        r"(?P<n>(?:table|view|function|procedure|index|trigger|type|schema|sequence|extension|role|policy|domain|"
        r"aggregate|database|rule|macro)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?[\w.\"`\[\]]+))",
        r"(?i:(?P<k>function|procedure|view)\s+(?P<n>[\w.\"`]+)\s*\()",
        r"(?i:(?P<k>alter)\s+(?P<n>\w+\s+(?:if\s+exists\s+)?(?:only\s+)?[\w.\"`\[\]]+))",
    ),
    "r": (
        r"(?P<n>[\w.]+)\s*(?:<-|=)\s*(?P<k>function)\b",
        r"(?P<k>setClass|setMethod|setGeneric)\(\"(?P<n>[^\"]+)",
    ),
    "julia": (
        r"(?P<k>function|mutable struct|struct|module|macro|abstract type|primitive type)\s+(?P<n>[\w.!]+)",
        r"(?P<n>[\w.!]+)\([^=]*\)(?:\s*where\s[^=]*)?\s*=(?!=)",
    ),
    "elixir": (r"(?P<k>defmodule|defp|defmacrop|defmacro|defprotocol|defimpl|def)\s+(?P<n>[\w.?!]+)",),
    "erlang": (
        r"(?P<n>[a-z]\w*)\(.*\)\s*(?:when\s.*)?->",
        r"-(?P<k>record|define|type|callback)\((?P<n>\w+)",
    ),
    "haskell": _HASKELL,
    "elm": (r"(?P<k>type alias|type|port|module)\s+(?P<n>[\w.]+)", r"(?P<n>[a-z]\w*)\s*:\s"),
    "ocaml": _ML, "fsharp": (*_ML, r"(?P<k>namespace|member)\s+(?P<n>[\w.]+)"),
    "clojure": _LISP, "lisp": _LISP, "scheme": _LISP,
    "fortran": (
        r"(?i:(?:[\w()]+\s+)*?(?P<k>subroutine|function|module|program|type)\s*(?:::)?\s+(?P<n>\w+))",
    ),
    "pascal": (r"(?i:(?P<k>procedure|function|constructor|destructor|unit|program)\s+(?P<n>[\w.]+))",),
    "ada": (r"(?i:(?P<k>procedure|function|package body|package|task|type)\s+(?P<n>[\w.]+))",),
    "verilog": (r"(?P<k>module|function|task|interface|class|package)\s+(?:automatic\s+)?(?P<n>\w+)",),
    "protobuf": (r"(?P<k>message|service|enum|extend)\s+(?P<n>[\w.]+)",),
    "thrift": (r"(?P<k>struct|service|enum|exception|union)\s+(?P<n>\w+)",),
    "graphql": (r"(?P<k>(?:extend\s+)?(?:type|input|enum|interface|union|scalar)|query|mutation|subscription|"
                r"fragment|directive)\s+@?(?P<n>\w+)",),
    "terraform": (r"(?P<k>resource|data|module|variable|output|provider)\s+(?P<n>\"[^{]*\")",),
    "cmake": (r"(?i:(?P<k>function|macro)\s*\(\s*(?P<n>\w+))",),
    "makefile": (r"(?P<n>[\w./%-][\w./% $()-]*?)\s*:(?![:=])",),
    "dockerfile": (r"(?P<k>FROM)\s+(?P<n>\S.*)",),
    "solidity": (
        r"(?:abstract\s+)?(?P<k>contract|interface|library|function|event|modifier|struct|enum)\s+(?P<n>\w+)",
    ),
}  # fmt: skip
# Members of a definition that is too long to stay whole, where they look different from what stands outside.
_INNER = {
    **dict.fromkeys(("javascript", "jsx", "typescript", "tsx"), _JS_INNER),
    **dict.fromkeys(("go", "makefile", "bash", "lua"), ()),
    "protobuf": (*_PATTERNS["protobuf"], r"(?P<k>rpc)\s+(?P<n>\w+)"),
}
# In these languages an indented line is part of the definition above it, also when it looks like one.
_ONLY_AT_THE_MARGIN = frozenset((
    "makefile", "haskell", "elm", "ocaml", "erlang", "c", "sql", "go", "dockerfile", "bash", "julia",
    "r",
))  # fmt: skip

_LEADS = ("//", "/*", "*", "@", "#[")
_HASHED = (
    "python", "cython", "ruby", "perl", "bash", "fish", "powershell", "awk", "r", "julia", "nim", "makefile",
    "dockerfile", "cmake", "graphql", "elixir",
)  # fmt: skip
_OTHER_LEADS = {
    **dict.fromkeys(("haskell", "elm", "ada"), ("--", "{-")),
    "sql": ("--", "CREATE OR REPLACE", "create or replace"),
    "lua": ("--",),
    "csharp": (*_LEADS, "["),
    "cpp": (*_LEADS, "template", "[["),
    **dict.fromkeys(("lisp", "clojure", "scheme", "ini"), (";",)),
    "erlang": ("%", "-spec"),
    "vim": ('"',),
    "fortran": ("!",),
    **dict.fromkeys(_HASHED, ("#", "@")),
    "terraform": ("#", "//"),
    "php": (*_LEADS, "#"),
}
# On the line above the name, as GNU lays it out.
_RETURN_TYPE = re.compile(r"[A-Za-z_][\w \t*]*$")
_BLOCK_COMMENTS = {
    **dict.fromkeys(["haskell", "elm"], ("{-", "-}")),
    **dict.fromkeys(["ocaml", "fsharp", "pascal"], ("(*", "*)")),
    "lua": ("--[[", "]]"),
    "ruby": ("=begin", "=end"),
    "julia": ("#=", "=#"),
    "powershell": ("<#", "#>"),
    **dict.fromkeys(("python", "cython", "elixir"), ('"""', '"""')),
    **dict.fromkeys(["bash", "makefile", "dockerfile", "r", "perl", "fish"], ("\0", "\0")),
}


def named_by(line: str, language: str, *, inner: bool) -> tuple[str, str] | None:
    """(keyword, name) when a definition begins on this line; the keyword may be empty."""
    if (
        not line
        or len(line) > _MAX_LINE_CHARS
        or (line[0] in " \t" and not inner and language in _ONLY_AT_THE_MARGIN)
    ):
        return None
    stripped = line.strip()
    for pattern in _compiled(language, inner):
        found = pattern.match(stripped)
        if found is None:
            continue
        groups = found.groupdict()
        name = " ".join(groups["n"].split())
        first = stripped.split("(")[0].split(maxsplit=1)
        if not groups.get("k") and (name in _CONTROL or (first and first[0] in _CONTROL)):
            return None
        receiver = groups.get("o")
        return groups.get("k") or "", f"{receiver}.{name}" if receiver else name
    return None


def is_lead(line: str, language: str) -> bool:
    """Does this line belong to the definition right below it: a comment, a decorator, an attribute?"""
    if line.lstrip().startswith(_OTHER_LEADS.get(language, _LEADS)):
        return True
    return language in ("c", "cpp") and _RETURN_TYPE.match(line) is not None


def in_comments(lines: list[str], language: str) -> Iterator[bool]:
    """Whether each line lies in a block comment. Strings that hold comment marks are not looked at."""
    opening, closing = _BLOCK_COMMENTS.get(language, ("/*", "*/"))
    inside = False
    for line in lines:
        stripped = line.strip()
        starts = not inside and stripped.startswith(opening)
        yield inside or starts
        if inside or starts:
            inside = closing not in (stripped[len(opening) :] if starts else stripped)


@lru_cache(maxsize=256)
def _compiled(language: str, inner: bool) -> tuple[re.Pattern[str], ...]:
    patterns = _PATTERNS.get(language, ())
    if inner:
        patterns = _INNER.get(language, patterns)
    return tuple(re.compile(pattern) for pattern in patterns)
