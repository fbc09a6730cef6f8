"""What a page defines becomes sections of its own."""

from __future__ import annotations

from rowen.adapters.convert.html.page import convert_html
from rowen.core.section import Section, Symbol
from rowen.core.split import split

URL = "https://docs.example/page.html"

SPHINX = """<main><h1>Tasks</h1><p>Before.</p>
<dl class="py class"><dt class="sig sig-object py" id="aio.Group"><em class="property">class </em>
<span class="sig-prename descclassname">aio.</span><span class="sig-name descname">Group</span>
<span class="sig-paren">(</span><em>size=1</em>)<a class="headerlink" href="#aio.Group">¶</a></dt>
<dd><p>A group.</p>
<dl class="py method"><dt class="sig sig-object py" id="aio.Group.start">
<span class="sig-name descname">start</span>()</dt><dd><p>Starts.</p></dd></dl>
<p>More of the group.</p></dd></dl>
<p>After.</p>
<dl class="std option"><dt class="sig sig-object std" id="cmdoption-q">
<span class="sig-name descname">--quiet</span></dt>
<dd><p>Says nothing.</p></dd></dl>
<dl class="glossary"><dt id="term-jar">jar<a class="headerlink" href="#term-jar">¶</a></dt><dd>
<p>Glass.</p></dd></dl>
</main>"""

DOCBOOK = """<html><head><title>20.4. Memory</title></head><body id="docContent">
<div class="navheader"><table><tr><td><a href="a.html">Prev</a></td><td><a href="b.html">Up</a></td>
</tr></table></div>
<div class="sect1" id="MEMORY"><div class="titlepage"><div><div><h2 class="title">20.4. Memory</h2>
</div></div></div>
<div class="variablelist"><dl class="variablelist">
<dt id="GUC-WORK-MEM"><span class="term">
<code class="varname">work_mem</code> (<code class="type">integer</code>)</span></dt>
<dd><p>Sets the memory.</p><div class="note"><h3 class="title">Note</h3><p>Per sort.</p></div></dd>
<dt><span class="term"><code class="option">-q</code><br></span><span class="term">
<code class="option">--quiet</code></span></dt>
<dd><p>Be quiet.</p></dd></dl></div>
<table><thead><tr><th class="func_table_entry">Function</th></tr></thead><tbody>
<tr><td class="func_table_entry"><p class="func_signature"><a id="id-1" class="indexterm"></a>
<code class="function">abs</code> ( <code class="type">numeric</code> )</p><p>Absolute value.</p></td>
</tr></tbody></table>
<div class="sect2" id="MORE"><div class="titlepage"><div><div><h3 class="title">More</h3></div></div>
</div><p>Text.</p></div>
</div><div class="navfooter"><a href="c.html">Next</a></div></body></html>"""


def _sections(page: str) -> list[Section]:
    return split(convert_html(page, URL).text)


def test_definitions_of_sphinx_have_their_anchor_kind_name_and_place() -> None:
    found = [(s.symbol, s.anchor, " › ".join(s.heading_path)) for s in _sections(SPHINX) if s.symbol]
    assert found == [
        (("aio.Group", "class"), "aio.Group", "Tasks › aio.Group"),
        (("aio.Group.start", "method"), "aio.Group.start", "Tasks › aio.Group › start()"),
        (("--quiet", "option"), "cmdoption-q", "Tasks › --quiet"),
        (("jar", "term"), "term-jar", "Tasks › jar"),
    ]


def test_text_after_a_definition_belongs_to_what_stands_around_it() -> None:
    own = {s.text: s.heading_path[-1] for s in _sections(SPHINX)}
    assert own["More of the group."] == "aio.Group"
    assert own["After."] == "Tasks"


def test_the_signature_of_a_definition_is_the_first_line_of_its_text() -> None:
    (group,) = [s for s in _sections(SPHINX) if s.symbol and s.symbol.name == "aio.Group"]
    assert group.text.startswith("`class aio.Group (size=1)`\n\nA group.")


def test_settings_options_and_functions_of_docbook_are_definitions() -> None:
    found = [(s.symbol, s.anchor) for s in _sections(DOCBOOK) if s.symbol]
    assert found == [
        (("work_mem", "setting"), "GUC-WORK-MEM"),
        (("--quiet", "option"), "MEMORY"),
        (("abs", "function"), "id-1"),
    ]


def test_a_definition_of_several_words_is_called_by_them_and_ends_where_its_list_ends() -> None:
    page = """<main><h1>SELECT</h1><div class="variablelist"><dl class="variablelist">
    <dt><span class="term"><code class="literal">CROSS JOIN</code></span></dt><dd><p>All pairs.</p></dd>
    <dt><span class="term"><code class="literal">TABLESAMPLE <em><code>method</code></em> ( <em>a</em>
      [, ...] ) [ REPEATABLE ( <em>seed</em> ) ]</code></span></dt><dd><p>Some rows.</p></dd></dl></div>
    <p>After.</p></main>"""
    sections = {s.text: s for s in _sections(page)}
    assert sections["All pairs."].symbol == ("CROSS JOIN", "value")
    assert sections["All pairs."].heading_path == ("SELECT", "CROSS JOIN")
    (sample,) = [s for s in _sections(page) if "Some rows." in s.text]
    assert sample.symbol == ("TABLESAMPLE method", "value")
    assert sample.text.startswith("`TABLESAMPLE method ( a [, ...] ) [ REPEATABLE ( seed ) ]`\n")
    assert sections["After."].heading_path == ("SELECT",)


def test_an_option_is_called_by_its_long_spelling_without_what_it_is_given() -> None:
    sphinx = """<main><h1>jar</h1><dl class="std option"><dt class="sig sig-object std" id="cmdoption-jar-h">
    <span class="sig-name descname">-h</span><span class="sig-prename descclassname">, </span><span
    class="sig-name descname">--help-lid</span><span
    class="sig-prename descclassname"> &lt;lid&gt; [&lt;file&gt;]</span></dt><dd><p>Tells.</p></dd></dl>
    </main>"""
    docbook = """<main><h1>jar</h1><div class="variablelist"><dl class="variablelist"><dt><span class="term">
    <code class="option">-j <em class="replaceable"><code>jobs</code></em></code></span></dt>
    <dd><p>Works.</p></dd></dl></div></main>"""
    (lid,) = [s for s in _sections(sphinx) if s.symbol]
    assert (lid.symbol, lid.heading) == (("--help-lid", "option"), "--help-lid")
    assert lid.text == "`-h, --help-lid <lid> [<file>]`\n\nTells."
    (jobs,) = [s for s in _sections(docbook) if s.symbol]
    assert (jobs.symbol, jobs.text) == (("-j", "option"), "`-j jobs`\n\nWorks.")


def test_a_page_of_docbook_keeps_no_navigation_and_every_section_has_an_anchor() -> None:
    converted = convert_html(DOCBOOK, URL)
    assert converted.title == "20.4. Memory"
    assert converted.text.startswith("# 20.4. Memory {#MEMORY}\n")
    assert not {"Prev", "Up", "Next"} & set(converted.text.split())
    assert "**Note**" in converted.text
    assert all(s.anchor for s in split(converted.text))


def test_a_heading_takes_the_id_of_the_box_it_opens_and_of_no_other() -> None:
    page = """<main><h1>T</h1><div id="wrapper-a"><div class="title"><h2>One</h2></div></div>
    <div id="box"><p>First said.</p><h2>Two</h2></div><div id="content"><h2>Three</h2></div></main>"""
    assert [(s.heading, s.anchor) for s in _sections(page)] == [
        ("T", None), ("One", "wrapper-a"), ("Two", None), ("Three", None)]  # fmt: skip


def test_the_entries_of_an_index_define_nothing() -> None:
    page = """<main><h1>Index</h1><div class="index">
    <dl><dt id="ientry-1">work_mem, <a href="m">Memory</a></dt></dl></div></main>"""
    assert not [s for s in _sections(page) if s.symbol]


_MAP = """<dl class="py method"><dt class="sig sig-object py" id="pool.map">
<span class="sig-name descname">map</span>(f)</dt><dd><p>Calls f.</p></dd></dl>"""


def test_definitions_that_a_page_indents_like_a_quotation_are_sections() -> None:
    (found,) = [
        s for s in _sections(f"<main><h1>T</h1><blockquote><div>{_MAP}</div></blockquote></main>") if s.symbol
    ]
    assert (found.symbol, found.anchor, found.text) == (
        ("pool.map", "method"),
        "pool.map",
        "`map(f)`\n\nCalls f.",
    )


def test_a_name_defined_in_a_cell_of_a_table_keeps_its_address_and_makes_no_heading() -> None:
    cell = _MAP.replace("<p>Calls f.</p>", "")
    text = convert_html(
        f"<main><h1>T</h1><table><tr><th>Call</th></tr><tr><td>{cell}</td></tr></table>", URL
    ).text
    assert '<a id="pool.map"></a>`map(f)`' in text
    assert "{#pool.map" not in text


def test_an_address_that_is_no_heading_is_marked_in_the_section_it_belongs_to() -> None:
    page = """<main><h1>T</h1><p>See <a href="#note">there</a>.</p>
    <section id="tasks"><span id="old-name"></span><h2>Tasks</h2>
    <p id="note">A note.</p><p id="id-1.7.2">Made by a machine.</p></section></main>"""
    text = convert_html(page, URL).text
    assert text == (
        "# T\n\nSee [there](https://docs.example/page.html#note).\n\n## Tasks {#tasks}\n\n"
        '<a id="old-name"></a>\n\n<a id="note"></a>A note.\n\nMade by a machine.\n'
    )
    assert [section.text for section in split(text)][1] == "A note.\n\nMade by a machine."


OVERLOADED = """<main><h1>API</h1><dl class="py function">
<dt class="sig sig-object py" id="cli.run"><span class="sig-prename">cli.</span>
<span class="sig-name">run</span>(<em>name: str</em>)</dt>
<dt class="sig"><span class="sig-prename">cli.</span><span class="sig-name">run</span>(<em>*</em>)</dt>
<dt class="sig"><span class="sig-prename">cli.</span><span class="sig-name">run</span>(<em>**k</em>)</dt>
<dd><p>Runs.</p></dd></dl><p>After.</p></main>"""


def test_a_name_with_several_signatures_is_a_definition_and_has_them_all() -> None:
    _, run, after = _sections(OVERLOADED)
    assert (run.symbol, run.heading) == (Symbol("cli.run", "function"), "cli.run()")
    assert run.text == "`cli. run(name: str)`\n\n`cli.run(*)`\n\n`cli.run(**k)`\n\nRuns."
    assert (after.heading, after.text) == ("API", "After.")


def test_a_type_that_is_set_in_pieces_of_emphasis_is_one_piece_of_text() -> None:
    page = """<h1>T</h1><p><strong>f</strong> (<em>Seq</em><em>[</em><a href="#str"><em>str</em></a><em>]</em>
<em> | </em><em>None</em>) <em>one</em> and <em>two</em></p>"""
    written = convert_html(page, URL).text.splitlines()[-1]
    assert written == rf"**f** (Seq\[[str]({URL}#str)\] | None) *one* and *two*"


def test_what_one_types_is_a_definition_in_manuals_of_asciidoc() -> None:
    page = """<main><h1>jar-fill(1)</h1><div class="sect1"><h2 id="_options">OPTIONS</h2>
    <div class="sectionbody"><div class="dlist"><dl>
    <dt class="hdlist1">\n-q\n</dt><dt class="hdlist1">\n--quiet\n</dt>
    <dd><p>\n  Says nothing.\n</p></dd>
    <dt class="hdlist1">-b &lt;jar&gt;</dt><dt class="hdlist1">--jar[=&lt;jar&gt;]</dt><dd><p>Which.</p></dd>
    <dt class="hdlist1">fill.lid</dt><dd><p>A lid. One of:</p><div class="dlist"><dl>
    <dt class="hdlist1">tight</dt><dd><p>Sealed.</p></dd></dl></div></dd>
    <dt class="hdlist1">JAR_DIR</dt><dd><p>Where.</p></dd></dl></div><p>After.</p></div></div></main>"""
    sections = _sections(page)
    assert [(s.symbol, s.anchor) for s in sections if s.symbol] == [
        (("--quiet", "option"), "_options"),
        (("--jar", "option"), "_options"),
        (("fill.lid", "setting"), "_options"),
        (("JAR_DIR", "variable"), "_options"),
    ]
    assert next(s for s in sections if s.heading == "--quiet").text == "`-q, --quiet`\n\nSays nothing."
    assert (
        next(s for s in sections if s.heading == "fill.lid").text == "A lid. One of:\n\n- **tight**: Sealed."
    )
    assert next(s for s in sections if s.text == "After.").heading_path == ("jar-fill(1)", "OPTIONS")
