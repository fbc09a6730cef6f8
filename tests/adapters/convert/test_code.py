"""Source code, cut at its definitions."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowen.adapters.convert.code.outline import convert_code
from rowen.adapters.convert.code.patterns import named_by
from rowen.core.split import split

_ENDINGS = ("py", "ts", "go", "rs", "java", "c", "cpp", "hs", "sql", "rb", "unknown")


def _headings(code: str, ending: str) -> list[str]:
    text = convert_code(code, f"https://e.org/x.{ending}").text
    return [section.heading for section in split(text)][1:]


def _defined(code: str, ending: str, file: str = "x") -> list[tuple[str, str]]:
    text = convert_code(code, f"https://e.org/p/larder/{file}.{ending}").text
    return [(one.symbol.name, one.symbol.kind) for one in split(text) if one.symbol is not None]


_PIECES = st.sampled_from(
    (
        "def f():", "    return 1", "class A:", "@decorator", "# comment", "/* comment", "*/", "x = 1", "}",
        "func main() {", "struct s {", "    public void run() {", '"""', "```", "~~~~", "# heading", "", "\t",
        "fn f() {}", "CREATE TABLE t (", "async def g(): pass", "x = 1; def", "interface I {", "\x0c", "a\\",
    )
)  # fmt: skip
_CODE = st.lists(_PIECES | st.text(max_size=20), max_size=40).map("\n".join)


@given(_CODE, st.sampled_from(_ENDINGS))
@example("class A:\n" + "    def f(self): pass\n" * 200, "py")
@example("class A {\n" + "    void f() { }\n" * 200, "java")
@example("x = 1; y = 2\ndef f(): pass; z = 1\n", "py")
def test_every_line_of_the_code_is_in_the_text_once_and_in_order(code: str, ending: str) -> None:
    text = convert_code(code, f"https://e.org/x.{ending}").text
    code = code.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").removeprefix("\ufeff")
    lines = iter(text.split("\n"))
    for line in code.split("\n"):
        if line.strip():
            assert line in lines


@given(_CODE, st.sampled_from(_ENDINGS))
def test_what_stands_in_code_makes_no_headings(code: str, ending: str) -> None:
    text = convert_code(code, f"https://e.org/x.{ending}").text
    written = [line for line in text.split("\n") if line.startswith("#")]
    for heading in {section.heading for section in split(text)}:
        assert f"# {heading}".strip() in "\n".join(written).replace("\\", "") or not heading
    assert all(section.heading.strip("# ") != "heading" for section in split(text))


def test_a_long_class_is_cut_at_its_methods_and_they_carry_its_name() -> None:
    methods = "".join(f"    def method{n}(self):\n        return '{'x' * 300}'\n\n" for n in range(9))
    headings = _headings(f"class Shelf:\n    size = 1\n\n{methods}", "py")
    assert headings == ["class Shelf", *(f"def Shelf.method{n}" for n in range(9))]


def test_members_of_long_definitions_are_found_in_other_languages() -> None:
    filler = f"        // {'x' * 1000}\n    }}\n"
    java = (
        f"class Shelf {{\n    /** Adds. */\n    public void add(Jar jar) {{\n{filler}"
        f"    private int count() {{\n        if (a) {{ return 1; }}\n{filler}    int size = f(1);\n}}\n"
    )
    assert _headings(java, "java") == ["class Shelf", "Shelf.add", "Shelf.count"]
    rust = f"impl Shelf {{\n    pub fn add(&self) {{\n{filler}\n    fn take() {{\n{filler}    // last\n}}\n"
    assert _headings(rust, "rs") == ["impl Shelf", "fn Shelf.add", "fn Shelf.take"]


def test_a_definition_in_python_is_called_by_its_file_its_class_and_itself() -> None:
    methods = "".join(f"    def method{n}(self):\n        return '{'x' * 900}'\n\n" for n in range(3))
    code = f"import x\n\nasync def open_shelf(): pass\n\nTOP = 1\n\nclass Shelf:\n    size = 1\n\n{methods}"
    assert _defined(code, "py", "shelf") == [
        ("shelf.open_shelf", "source function"),
        ("shelf.TOP", "source variable"),
        ("shelf.Shelf", "source class"),
        *((f"shelf.Shelf.method{n}", "source method") for n in range(3)),
    ]
    assert _defined("def f(): pass\n", "py", "__init__") == [("larder.f", "source function")]
    assert _defined("def f(): pass\n", "py", "a-script") == [("f", "source function")]
    assert _defined("def f(): pass\n\na, b = c = 1, 2\nd = 3\n", "py") == [("x.f", "source function")]


_LONG = f"        // {'x' * 1000}\n    }}\n"
_JAVA = (
    f"package org.larder;\n\nclass Shelf {{\n    void add(Jar jar) {{\n{_LONG}    int count() {{\n{_LONG}}}\n"
)
_RUST = f"impl<T> Display for Shelf<T> {{\n    fn add(&self) {{\n{_LONG}    fn take() {{\n{_LONG}}}\n"
_HASKELL = "module Larder.Shelf where\n\ndata Jar a = Jar a\n  deriving Show\n"


@pytest.mark.parametrize(
    ("ending", "code", "defined"),
    [
        ("go", "package larder\n\nfunc (s *Shelf[T]) Add(j string) {\n}\n", {"larder.Shelf.Add": "method"}),
        (
            "java",
            _JAVA,
            {
                "org.larder.Shelf": "class",
                "org.larder.Shelf.add": "method",
                "org.larder.Shelf.count": "method",
            },
        ),
        ("rs", "pub struct Shelf<T> {\n}\n", {"Shelf": "struct"}),
        ("rs", _RUST, {"Shelf": "extension", "Shelf.add": "method", "Shelf.take": "method"}),
        (
            "cs",
            "namespace Larder.Cold;\n\npublic class Shelf\n{\n}\n",
            {"Larder.Cold": "namespace", "Larder.Cold.Shelf": "class"},
        ),
        ("cpp", "int Shelf::count(int n) const {\n  return n;\n}\n", {"Shelf::count": "function"}),
        ("kt", "fun <T> List<T>.second(): T {\n}\n", {"List.second": "function"}),
        ("hs", _HASKELL, {"Larder.Shelf": "module", "Larder.Shelf.Jar": "type"}),
        ("sql", 'CREATE TABLE IF NOT EXISTS "jars" (\n  id int\n);\n', {"jars": "table"}),
        ("sql", "ALTER TABLE jars\n  ADD COLUMN size int;\n", {}),
        ("js", "Shelf.prototype.add = function (jar) {\n  return jar;\n};\n", {"Shelf.add": "function"}),
        ("ts", "const a = 1;\nconst b = 2;\n", {}),
        ("tf", 'resource "jar" "jam" {\n  size = 1\n}\n', {}),
        ("c", "#define OF(x) \\\n  (x)\n", {"OF": "macro"}),
    ],
)
def test_a_definition_is_called_in_full_where_the_file_says_how(
    ending: str, code: str, defined: dict[str, str]
) -> None:
    assert _defined(code, ending) == [(name, f"source {kind}") for name, kind in defined.items()]


def test_what_code_defines_changes_no_passage() -> None:
    marked = convert_code("x = 1\n\ndef f(x):\n    return x\n", "https://e.org/x.py").text
    plain = marked.replace(" {.source-function name=x.f}", "")
    assert plain != marked
    assert [one.passage_hash for one in split(plain)] == [one.passage_hash for one in split(marked)]


def test_comments_and_decorators_go_with_what_they_stand_above() -> None:
    text = convert_code("import x\n\n# why\n@a\n@b(\n  1)\ndef f(): pass\n", "https://e.org/x.py").text
    assert text.endswith(
        "## def f {.source-function name=x.f}\n\n```python\n# why\n@a\n@b(\n  1)\ndef f(): pass\n```\n"
    )


def test_python_that_does_not_parse_is_cut_by_its_lines() -> None:
    assert _headings("print 'old'\n\ndef f(x):\n    print x\n\nclass A:\n    pass\n", "py") == [
        "def f",
        "class A",
    ]


def test_code_nested_too_deep_for_the_parser_is_still_text() -> None:
    code = "x = " + "(" * 5000 + ")" * 5000 + "\ndef f(): pass\n"
    assert "def f" in _headings(code, "py")
    assert "x = 1\n" in convert_code("-" * 100_000 + "1\nx = 1\n", "https://e.org/x.py").text


def test_code_without_definitions_is_one_block() -> None:
    text = convert_code("a: b\n", "https://e.org/dir/x.css").text
    assert text == "# x.css\n\n```css\na: b\n```\n"


def test_a_name_that_says_nothing_comes_with_its_folder() -> None:
    assert convert_code("", "file:///p/larder/__init__.py").title == "larder/__init__.py"
    assert convert_code("", "file:///p/larder/shelf%20one.py").title == "shelf one.py"


@pytest.mark.parametrize(
    ("language", "line", "named"),
    [
        ("javascript", "export default async function* walk(x) {", ("function", "walk")),
        ("javascript", "exports.open = function () {", ("", "open")),
        ("typescript", "export abstract class Shelf<T> {", ("class", "Shelf")),
        ("typescript", "declare module 'x' {", None),
        ("go", "func (s *Shelf[T]) Add(jar string) {", ("func", "Shelf.Add")),
        ("kotlin", "data class Jar(val size: Int)", ("class", "Jar")),
        ("kotlin", "suspend fun <T> List<T>.second(): T {", ("fun", "List<T>.second")),
        ("swift", "public extension Shelf {", ("extension", "Shelf")),
        ("swift", "@objc class func make() {", ("func", "make")),
        ("scala", "case class Jar(size: Int)", ("class", "Jar")),
        ("csharp", "public async Task<List<Jar>> FindAsync(string name)", ("", "FindAsync")),
        ("csharp", "return Find(name);", None),
        ("cpp", "std::vector<int> Shelf::jars(const std::string& n) const {", ("", "Shelf::jars")),
        ("cpp", "template <typename T>", None),
        ("c", "    indented(call);", None),
        ("ruby", "def self.open!(name)", ("def", "open!")),
        ("php", "abstract public function open(string $x)", ("function", "open")),
        ("lua", "local function open(x)", ("function", "open")),
        ("lua", "M.close = function(x)", ("function", "M.close")),
        ("bash", "open_shelf() {", ("", "open_shelf")),
        ("bash", "if [ -f x ]; then", None),
        ("r", "open.shelf <- function(x) {", ("function", "open.shelf")),
        ("julia", "area(x, y) = x * y", ("", "area")),
        ("elixir", "defmodule Larder.Shelf do", ("defmodule", "Larder.Shelf")),
        ("erlang", "open(Name) when is_atom(Name) ->", ("", "open")),
        ("haskell", "open :: String -> Shelf", ("", "open")),
        ("haskell", "data Shelf a = Shelf a", ("data", "Shelf a")),
        ("clojure", "(defn open-shelf [x]", ("defn", "open-shelf")),
        ("ocaml", "let rec count x =", ("let", "count")),
        ("perl", "sub open_shelf {", ("sub", "open_shelf")),
        ("powershell", "Function Open-Shelf {", ("Function", "Open-Shelf")),
        ("sql", "CREATE OR REPLACE VIEW low AS", ("CREATE", "VIEW low")),
        ("protobuf", "message Jar {", ("message", "Jar")),
        ("graphql", "extend type Jar {", ("extend type", "Jar")),
        ("terraform", 'resource "jar" "jam" {', ("resource", '"jar" "jam"')),
        ("makefile", "install: all", ("", "install")),
        ("makefile", "CC := gcc", None),
        ("zig", "pub fn open(x: u8) void {", ("fn", "open")),
        ("dart", "abstract class Shelf {", ("class", "Shelf")),
    ],
)
def test_a_definition_is_known_by_its_first_line(
    language: str, line: str, named: tuple[str, str] | None
) -> None:
    assert named_by(line, language, inner=False) == named


@pytest.mark.parametrize(
    "line", ["a<b> " * 70, "a <b, " * 60, "x(" * 180, "((((" * 90, "a::" * 120, "* " * 190]
)
def test_no_line_takes_long_to_look_at(line: str) -> None:
    from rowen.adapters.convert.code import patterns

    started = time.process_time()
    for language in patterns._PATTERNS:
        named_by(line, language, inner=False)
        named_by(line, language, inner=True)
    assert time.process_time() - started < 2
