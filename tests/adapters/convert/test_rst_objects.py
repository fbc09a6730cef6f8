"""What directives of reStructuredText define."""

from __future__ import annotations

import pytest

from rowen.adapters.convert.definition import Place
from rowen.adapters.convert.markup.rst import convert_rst
from rowen.adapters.convert.markup.rst_objects import definition
from rowen.core.section import Symbol
from rowen.core.split import split


@pytest.mark.parametrize(
    ("directive", "signature", "around", "module", "kind", "name"),
    [
        ("function", "gather(*aws)", "", "asyncio", "function", "asyncio.gather"),
        ("py:method", "Task.cancel(msg=None)", "asyncio.Task", "asyncio", "method", "asyncio.Task.cancel"),
        ("method", "async close()", "Foo", "", "method", "Foo.close"),
        ("attribute", "shelves: int", "pantry.Larder", "pantry", "attribute", "pantry.Larder.shelves"),
        ("data", "sys.flags", "", "sys", "data", "sys.flags"),
        ("class", "Jar(size)", "", "", "class", "Jar"),
        ("c:function", "PyObject *PyList_New(Py_ssize_t len)", "", "m", "function", "PyList_New"),
        ("c:type", "int (*visitproc)(PyObject *self)", "", "", "type", "visitproc"),
        ("cpp:function", "template<class T> void std::swap(T& a, T& b)", "", "", "function", "std::swap"),
        ("js:function", "$.getJSON(href, callback)", "", "", "function", "$.getJSON"),
        ("option", "-m <name>, --module=<name>", "", "", "option", "--module"),
        ("envvar", "PYTHONPATH", "", "m", "variable", "PYTHONPATH"),
        ("setting", "DATABASE-ENGINE", "", "", "setting", "DATABASE-ENGINE"),
        ("django-admin", "loaddata fixture [fixture ...]", "", "", "command", "loaddata"),
    ],
)
def test_a_signature_gives_the_name_in_full(
    directive: str, signature: str, around: str, module: str, kind: str, name: str
) -> None:
    found = definition(directive, signature, Place(2, around), module)
    assert found is not None
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize(("directive", "signature"), [("describe", "x"), ("function", ""), ("option", "x")])
def test_what_has_no_name_defines_nothing(directive: str, signature: str) -> None:
    assert definition(directive, signature, Place(2), "") is None


def test_text_behind_a_member_belongs_to_its_class_again() -> None:
    text = convert_rst(
        "Title\n=====\n\n.. class:: Jar\n\n   A jar.\n\n   .. method:: open()\n\n      Opens it.\n\n"
        "   It has a lid.\n",
        "https://docs.example.org/jar.rst",
    ).text
    said = [(section.heading, section.text) for section in split(text) if section.text]
    assert said == [("Jar", "A jar."), ("open()", "Opens it."), ("Jar", "It has a lid.")]


def test_characters_that_stand_for_our_marks_are_none_in_a_text_of_others() -> None:
    text = convert_rst("Title\n=====\n\nA \uf8f0jar\uf8f1.\n", "https://docs.example.org/jar.rst").text
    assert text == "# Title\n\nA jar.\n"


def test_a_directive_right_before_a_heading_says_what_the_heading_defines() -> None:
    text = convert_rst(
        "Settings\n========\n\n.. setting:: JAR_SIZE\n\n``JAR_SIZE``\n------------\n\nIn cm.\n\n"
        ".. _lids:\n\n.. setting:: LIDS\n\nLids\n----\n\nThey close.\n",
        "https://docs.example.org/settings.rst",
    ).text
    found = [(section.heading, section.anchor, section.symbol, section.text) for section in split(text)]
    assert found == [
        ("Settings", None, None, ""),
        ("JAR_SIZE", None, Symbol("JAR_SIZE", "setting"), "In cm."),
        ("Lids", "lids", Symbol("LIDS", "setting"), "They close."),
    ]


def test_a_directive_with_blank_lines_behind_it_may_be_the_last_of_a_text() -> None:
    text = convert_rst("Title\n=====\n\n.. function:: f()\n\n\n", "https://docs.example.org/f.rst").text
    assert [section.symbol for section in split(text)] == [None, Symbol("f", "function")]
