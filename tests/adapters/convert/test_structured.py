"""JSON, YAML, TOML, INI, XML, OpenAPI and notebooks: what the golden cases do not show."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.convert.data.structured import (
    convert_ini,
    convert_json,
    convert_json_lines,
    convert_toml,
    convert_xml,
    convert_yaml,
)
from rowen.adapters.convert.data.yaml_values import read_yaml
from rowen.adapters.convert.markup.notebook import convert_notebook
from rowen.core.split import split
from rowen.errors import Unparseable

_URL = "https://docs.example.org/x"


@pytest.mark.parametrize("text", ["{", '{"a": 1,}', "// comment\n{}", "[" * 100_000, '{"a":' * 100_000, ""])
def test_json_that_is_not_well_formed_is_one_block(text: str) -> None:
    converted = convert_json(text, _URL + ".json")
    assert converted.title == "x.json"
    assert text.strip() in converted.text
    assert len({section.heading_path for section in split(converted.text)}) == 1


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), _VALUES, max_size=6), st.sampled_from((None, 0, 2, "\t")))
def test_nothing_of_a_json_object_is_lost(value: dict[str, object], indent: int | str | None) -> None:
    text = convert_json(json.dumps(value, indent=indent, ensure_ascii=False), _URL + ".json").text
    lines = [line for line in text.split("\n") if line and not line.startswith(("```", "# ", "## "))]
    found: dict[str, object] = {}
    while lines:
        # Each member stands on its own; together they are the object again.
        for end in range(1, len(lines) + 1):
            try:
                found |= json.loads("{" + "\n".join(lines[:end]) + "}")
            except ValueError:
                continue
            del lines[:end]
            break
        else:
            raise AssertionError(lines)
    assert found == value


def test_a_list_of_things_with_names_has_a_section_for_each() -> None:
    text = convert_json('[{"name": "jam"}, {"name": "tea", "x": [1]}]', _URL + ".json").text
    assert [section.heading for section in split(text)] == ["x.json", "jam", "tea"]


def test_a_file_with_thousands_of_keys_is_data_and_one_block() -> None:
    text = convert_json(json.dumps({f"k{n}": [n] for n in range(3_000)}, indent=1), _URL + ".json").text
    assert "\n## " not in text
    assert '"k2999": [' in text


def test_lines_of_json_without_names_or_broken_are_one_block() -> None:
    for text in ('{"a": 1}\n{"a": 2}\n', '{"name": "x"}\nbroken\n'):
        assert convert_json_lines(text, _URL + ".jsonl").text == f"# x.jsonl\n\n```json\n{text}```\n"


def test_toml_that_is_not_well_formed_is_one_block() -> None:
    assert convert_toml("[a]\nb\n", _URL + ".toml").text == "# x.toml\n\n```toml\n[a]\nb\n```\n"


def test_the_settings_of_ini_before_the_first_section_come_first() -> None:
    text = convert_ini("a = 1\n[s]\nb = [x]\n[[t]]\n", _URL + ".ini").text
    assert [section.heading for section in split(text)] == ["x.ini", "s", "t"]


@pytest.mark.parametrize(
    "text",
    [
        "<a><b></a>",
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        "<a>" * 200_000,
    ],
)
def test_xml_that_is_broken_or_declares_entities_is_one_block(text: str) -> None:
    assert convert_xml(text, _URL + ".xml").text == f"# x.xml\n\n```xml\n{text}\n```\n"


def test_billion_laughs_are_not_laughed() -> None:
    laughs = '<!DOCTYPE l [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    text = laughs + "]><l>&j;</l>"
    assert len(convert_xml(text, _URL + ".xml").text) < len(text) + 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb:\n- x\n- y: 2\n  z: 3\n", {"a": "1", "b": ["x", {"y": "2", "z": "3"}]}),
        ("a: |\n  one\n\n  two\nb: >\n  one\n  two\n", {"a": "one\n\ntwo\n", "b": "one two\n"}),
        ("a: \"x: \\n # y\"  # c\nb: 'it''s'\n", {"a": "x: \n # y", "b": "it's"}),
        ("a: {b: [1, 'x, y'], c: {}}\nd: []\n", {"a": {"b": ["1", "x, y"], "c": {}}, "d": []}),
        ("a: one\n  two\nb: ~\nc: true\n", {"a": "one two", "b": None, "c": True}),
        ("/x/{id}:\n  '200':\n    $ref: '#/a/b'\n", {"/x/{id}": {"200": {"$ref": "#/a/b"}}}),
        ("- - a\n  - b\n-\n  c: d\n", [["a", "b"], {"c": "d"}]),
        ("---\n# c\nurl: http://e.org:80/#x\n", {"url": "http://e.org:80/#x"}),
        ("version: 1.10\nday: 2026-01-02\nno: no\n", {"version": "1.10", "day": "2026-01-02", "no": "no"}),
        ("a: 'true'\nb: !!str null\n", {"a": "true", "b": "null"}),
        ("a: 1\na: 2\n1: x\n~: y\n", {"a": "2", "1": "x", "~": "y"}),
        ("a: &x {p: 1, q: 2}\nb: *x\n", {"a": {"p": "1", "q": "2"}, "b": {"p": "1", "q": "2"}}),
        ("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n", {"a": {"p": "1", "q": "2"}, "b": {"p": "1", "q": "3"}}),
        ("", None),
    ],
)
def test_the_yaml_people_write_is_read(text: str, value: object) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: *x\n",
        "a: &x [*x]\n",
        "a: {<<: 1}\n",
        "a: !tag 1\n",
        "a: !!python/object/apply:os.system [echo]\n",
        "? [a]\n: b\n",
        "a: 1\n---\nb: 2\n",
        "a: \0\n",
        "a: \ud800\n",
        "[" * 200_000,
        "{a: " * 100_000,
        "a: 1\n b: 2\n",
        "a: [1\n",
        'a: "x\n',
        "\ta: 1\n",
        "a:\n" + "- " * 500,
    ],
)
def test_yaml_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_yaml(text)


def _laughs(opening: str, item: str, closing: str) -> str:
    lines = [f"a0: &a0 {opening}{closing}\n"]
    lines += [f"a{n}: &a{n} {opening}{', '.join([item.format(n - 1)] * 10)}{closing}\n" for n in range(1, 12)]
    return "".join(lines)


@pytest.mark.parametrize("text", [_laughs("[", "*a{}", "]"), _laughs("{<<: [", "*a{}", "]}")])
def test_aliases_that_stand_for_too_much_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="aliases stand for more than 100000 values"):
        read_yaml(text)


def test_openapi_that_laughs_is_still_yaml() -> None:
    text = "openapi: 3.0.0\npaths: {}\n" + _laughs("[", "*a{}", "]")
    converted = convert_yaml(text, _URL + ".yaml")
    assert converted.metadata == {"format": "yaml"}
    assert len(converted.text) < 3 * len(text)


def test_yaml_with_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowen.adapters.convert.data.yaml_values._MAX_NODES", 100)
    read_yaml("- x\n" * 99)
    with pytest.raises(ValueError, match="more than 100 values"):
        read_yaml("- x\n" * 100)


def test_openapi_may_use_anchors_and_aliases() -> None:
    text = convert_yaml(
        "openapi: 3.0.0\ninfo:\n  title: x\npaths:\n"
        "  /a:\n    get: &get {summary: Get a jar}\n  /b:\n    get: *get\n",
        _URL + ".yaml",
    ).text
    assert [section.heading for section in split(text)] == ["x", "GET /a", "GET /b"]
    assert text.count("Get a jar") == 2


def test_openapi_that_is_not_understood_is_still_yaml() -> None:
    text = convert_yaml(
        "openapi: 3.0.0\ninfo: !i\n  title: x\npaths:\n  /a:\n    get: *i\n", _URL + ".yaml"
    ).text
    assert [section.heading for section in split(text)] == ["x.yaml", "info", "paths"]


def test_openapi_of_odd_shapes_does_not_fail() -> None:
    odd = {
        "openapi": 3, "info": [], "servers": {},
        "components": {"schemas": {"A": None, "B": {"properties": []}}},
        "paths": {"/a": None, "/b": {"get": None, "post": {"parameters": [1, {"$ref": "#/no/where"}],
                                                           "responses": {"200": 3}, "requestBody": []}}},
    }  # fmt: skip
    headings = [section.heading for section in split(convert_json(json.dumps(odd), _URL + ".json").text)]
    assert headings == ["x.json", "GET /b", "POST /b", "Schema A", "Schema B"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', "[" * 100_000])
def test_a_notebook_that_is_none_is_unparseable(text: str) -> None:
    with pytest.raises(Unparseable):
        convert_notebook(text, _URL + ".ipynb")


def test_a_notebook_without_a_heading_is_called_by_its_file() -> None:
    cells = [{"cell_type": "code", "source": "x = 1", "outputs": []}, {"cell_type": "raw", "source": "raw"}]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "R"}}}
    assert convert_notebook(json.dumps(notebook), _URL + ".ipynb").text == (
        "# x.ipynb\n\n```r\nx = 1\n```\n\n```\nraw\n```\n"
    )


def test_running_a_notebook_again_changes_nothing() -> None:
    def run(count: int, address: str) -> str:
        output = {"output_type": "execute_result", "data": {"text/plain": f"<A at {address}>"}}
        cell = {"cell_type": "code", "execution_count": count, "source": "a", "outputs": [output]}
        return convert_notebook(json.dumps({"cells": [cell]}), _URL + ".ipynb").text

    assert run(1, "0x7f00deadbeef") == run(2, "0x7f11deadbeef")
