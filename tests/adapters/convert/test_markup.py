"""MDX, reStructuredText and AsciiDoc: what the golden cases do not show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.convert.markup.asciidoc import convert_asciidoc
from rowen.adapters.convert.markup.mdx import convert_mdx
from rowen.adapters.convert.markup.rst import convert_rst
from rowen.core.split import split

_URL = "https://docs.example.org/guide/page"


def _rst(text: str) -> str:
    return convert_rst(text, _URL + ".rst").text


def _adoc(text: str) -> str:
    return convert_asciidoc(text, _URL + ".adoc").text


def _mdx(text: str) -> str:
    return convert_mdx(text, _URL + ".mdx").text


def test_levels_of_rst_follow_the_order_in_which_its_underlines_appear() -> None:
    text = "Top\n~~~\n\nIn\n''''\n\nIn\n''''\n\nDeep\n----\n\nTop2\n~~~~\n"
    assert [(s.level, s.heading) for s in split(_rst(text))] == [
        (1, "Top"), (2, "In"), (2, "In"), (3, "Deep"), (1, "Top2"),
    ]  # fmt: skip


def test_an_overline_makes_another_style_of_rst() -> None:
    assert _rst("===\nOne\n===\n\nTwo\n===\n") == "# One\n\n## Two\n"


def test_a_target_of_rst_is_the_anchor_of_the_heading_below_it_only() -> None:
    text = ".. _A Target:\n\n.. index:: x\n\nOne\n===\n\n.. _gone:\n\nText.\n\nTwo\n===\n"
    assert _rst(text) == "# One {#a-target}\n\nText.\n\n# Two\n"


def test_code_of_rst_keeps_its_blank_lines_and_what_looks_like_markup() -> None:
    text = "T\n=\n\n::\n\n   a\n\n\n\n   .. note:: b\n   ``c``\n"
    assert _rst(text) == "# T\n\n```\na\n\n\n\n.. note:: b\n``c``\n```\n"


def test_highlight_gives_literal_blocks_of_rst_their_language() -> None:
    assert "```bash\nls\n```" in _rst("T\n=\n\n.. highlight:: bash\n\nRun::\n\n  ls\n")


def test_a_quoted_literal_block_of_rst_is_code() -> None:
    assert "```\n> a\n> b\n```\n\nText." in _rst("T\n=\n\nSaid::\n\n> a\n> b\n\nText.\n")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (":class:`~a.b.Shelf`", "`Shelf`"),
        (":py:meth:`open() <a.Shelf.open>`", "`open()`"),
        (":doc:`the guide </guide>`", "the guide"),
        (":term:`jar`", "jar"),
        (":math:`x^2`", "$x^2$"),
        ("`text`:sub:", "text"),
        ("`<https://e.org/>`_", "[https://e.org/](https://e.org/)"),
        ("`a b`__", "a b"),
        ("``a`b``", "`` a`b ``"),
        ("re\\ ``x``\\ s", "re`x`s"),
        ("[#note]_", "\\[#note\\]"),
        ("|unknown|", "|unknown|"),
        ("__init__ and _private and trailing_", "__init__ and _private and trailing_"),
        ("*em* **strong**", "*em* **strong**"),
    ],
)
def test_roles_and_references_of_rst_become_their_text(written: str, read: str) -> None:
    assert _rst(f"T\n=\n\nSee {written} here.\n") == f"# T\n\nSee {read} here.\n"


def test_a_reference_of_rst_may_name_another_target() -> None:
    text = "T\n=\n\nSee there_ and `Not here`_.\n\n.. _there: here_\n.. _here: https://e.org/x\n"
    assert "See [there](https://e.org/x) and Not here." in _rst(text)


def test_rst_without_a_heading_is_called_by_its_file() -> None:
    assert convert_rst("Text.\n", _URL + ".rst").text == "# page.rst\n\nText.\n"
    assert _rst("") == ""


def test_attributes_of_asciidoc_are_filled_in_but_not_in_literal_text() -> None:
    assert _adoc("= T\n:v: 2\n:w: {v}.1\n\n{w} {unknown} `+{w}+` `{w}`\n") == (
        "# T\n\n2.1 {unknown} `{w}` `2.1`\n"
    )


def test_attributes_of_asciidoc_made_of_attributes_do_not_grow_without_end() -> None:
    lines = [":a0: " + "x" * 50, *(f":a{n}: {f'{{a{n - 1}}}' * 50}" for n in range(1, 30))]
    assert len(_adoc("= T\n" + "\n".join(lines) + "\n\n{a29}\n")) < 2_000


def test_substitutions_of_rst_made_of_substitutions_do_not_grow_without_end() -> None:
    lines = [f".. |a{n}| replace:: {f'|a{n - 1}| ' * 50}" for n in range(1, 30)]
    assert len(_rst("T\n=\n\n|a29|\n\n" + "\n".join(lines) + "\n")) < 100_000


def test_a_title_of_asciidoc_does_not_take_the_style_of_its_block() -> None:
    assert _adoc("= T\n\n[source,go]\n.Main\n----\nfunc main\n----\n") == (
        "# T\n\n**Main**\n\n```go\nfunc main\n```\n"
    )


def test_fences_and_anchors_in_headings_of_asciidoc_are_understood() -> None:
    assert _adoc("= T\n\n== Keys [[k]]\n\n```rust\nfn main\n```\n") == (
        "# T\n\n## Keys {#k}\n\n```rust\nfn main\n```\n"
    )


def test_tables_of_asciidoc_may_have_a_cell_a_line() -> None:
    assert "| a | b |\n| --- | --- |\n| 1 | 2 more |\n" in _adoc("= T\n\n|===\n|a |b\n\n|1\n|2\nmore\n|===\n")


def test_tags_of_mdx_with_expressions_over_lines_go_and_their_text_stays() -> None:
    text = "# T\n\n<Grid\n  items={[{a: '>'}]}\n>\n  Inside **it**.\n</Grid>\n\n<>fragment</>\n"
    assert _mdx(text) == "# T\n\nInside **it**.\n\nfragment\n"


def test_code_in_an_item_of_a_list_of_mdx_stays_in_it_and_so_does_what_follows() -> None:
    text = (
        "# T\n\n<Steps>\n1. Run:\n\n    <Tabs>\n      <Tab>\n      ```sh\n      a\n        b\n      ```\n"
        "      </Tab>\n    </Tabs>\n\n    It works.\n\n2. Then.\n</Steps>\n\n"
        "<Box>\n  ```sh\n  c\n  ```\n</Box>\n"
    )
    assert _mdx(text) == (
        "# T\n\n1. Run:\n\n   ```sh\n   a\n     b\n   ```\n\n    It works.\n\n2. Then.\n\n```sh\nc\n```\n"
    )


def test_html_of_mdx_that_markdown_knows_stays() -> None:
    assert (
        _mdx("# T\n\nPress <kbd>A</kbd> <a href='x'>b</a>.\n")
        == "# T\n\nPress <kbd>A</kbd> <a href='x'>b</a>.\n"
    )


def test_a_tag_of_mdx_that_never_ends_is_text() -> None:
    assert _mdx("# T\n\n<Broken a={\n") == "# T\n\n<Broken a={\n"


_MARKUP = st.lists(
    st.sampled_from(
        ("====", "----", "....", "== T", "Title", ".. note:: x", "   indented", "::", "a::", "* a", "|===",
         "|a |b", "[source,x]", "<A>", "</A>", "```", "import x from 'y'", ".. _t:", "", "{a}", ":a: {a}",
         "=====  ====", "+---+", ">>> x", "| l", ":f: v", ".. |s| replace:: |s|", "|s|", "<A b={{'>", "`a")
    ),
    max_size=25,
).map("\n".join)  # fmt: skip


@given(_MARKUP | st.text(max_size=200))
def test_no_markup_makes_a_converter_fail(text: str) -> None:
    for convert in (_rst, _adoc, _mdx):
        markdown = convert(text)
        assert "".join(markdown[s.start : s.end] for s in split(markdown)) == (
            markdown if markdown.strip() else ""
        )


def test_a_grid_table_of_rst_becomes_a_table_unless_cells_span_others() -> None:
    plain = """T
=

+------+-----------+
| Name | What      |
+======+===========+
| jar  | glass,    |
|      | ``x|y``   |
+------+-----------+
| can  | :ref:`the |
|      | tin <t>`  |
+------+-----------+
"""
    spans = "T\n=\n\n+---+---+\n| a | b |\n+---+---+\n| c     |\n+---+---+\n"
    headless = "T\n=\n\n+---+---+\n| a | b |\n+---+---+\n"
    url = "https://docs.example/a.rst"
    assert convert_rst(plain, url).text == (
        "# T\n\n| Name | What |\n| --- | --- |\n| jar | glass, `x\\|y` |\n| can | the tin |\n"
    )
    assert convert_rst(headless, url).text == "# T\n\n|  |  |\n| --- | --- |\n| a | b |\n"
    assert "```\n+---+---+\n| a | b |" in convert_rst(spans, url).text


def test_a_literal_broken_over_two_lines_of_a_list_is_one_line() -> None:
    assert _rst("* Run ``pip install\n  jars`` first.\n").endswith("* Run `pip install jars` first.\n")


def test_a_role_broken_over_two_lines_of_a_definition_is_read() -> None:
    text = "T\n=\n\njar\n   Glass, see :ref:`the long\n   name <lids>` for more.\n"
    assert "see the long name for more." in convert_rst(text, "https://docs.example/a.rst").text
