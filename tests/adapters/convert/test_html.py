"""What of an HTML page is content, and how it is written down."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.convert.html.page import convert_html
from rowen.adapters.convert.tidy import tidy
from rowen.core.document import Converted
from rowen.core.split import split

_URL = "https://docs.example.org/guide/page.html"


def _convert(body: str, head: str = "<title>Page</title>") -> Converted:
    return convert_html(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", _URL)


_PAGE = """<!doctype html><html class="no-js {c}"><head><title>Jars</title>
<script nonce="{n}">var built = "{n}";</script><link rel="stylesheet" href="/style.css?v={n}">
<meta name="csrf-token" content="{n}"><meta name="generated" content="{n}"></head>
<body class="{c}"><header class="{c}">Larder {n}<nav><a href="/">Home</a></nav></header>
<div class="cookie-banner">We use cookies {n}</div>
<main id="m" class="{c}" data-build="{n}"><nav class="breadcrumbs"><a href="/">Home</a> {n}</nav>
<h1 class="{c}" id="jars">Jars<a class="headerlink" href="#jars" title="{n}">¶</a></h1>
<form method="post"><input type="hidden" name="token" value="{n}"><button>Go {n}</button></form>
<p class="{c}">Glass, <img src="/jar.png?v={n}" alt="a jar" class="{c}"> with a lid.</p>
<pre class="{c}"><code>open(jar)</code></pre>
<span class="theme-last-updated">Last updated {n}</span><noscript>{n}</noscript><!-- {n} -->
<div style="display:none" aria-hidden="true">{n}</div><svg><title>{n}</title></svg>
</main><aside class="sidebar">{n}</aside><footer>Built {n}</footer>
<script src="/app.js?v={n}"></script></body></html>"""


def test_a_page_that_differs_in_boilerplate_only_gives_exactly_the_same() -> None:
    first = convert_html(_PAGE.format(n="2026-11-12T04:17", c="light"), _URL)
    second = convert_html(_PAGE.format(n="9f8e7d6c", c="dark wide-theme"), _URL)
    assert first == second
    assert first.text == (
        "# Jars {#jars}\n\nGlass, ![a jar](https://docs.example.org/jar.png) with a lid.\n\n"
        "```\nopen(jar)\n```\n"
    )


def test_a_changed_word_of_the_content_is_a_change() -> None:
    page = _PAGE.format(n="x", c="y")
    assert convert_html(page, _URL).text != convert_html(page.replace("Glass", "Tin"), _URL).text


def test_the_larger_of_two_mains_is_the_content() -> None:
    text = _convert("<main><p>short</p></main><main><p>a longer main text</p></main>").text
    assert text == "# Page\n\na longer main text\n"


def test_without_a_main_the_article_that_is_most_of_the_page_is_the_content() -> None:
    around = "<div>around the article</div>"
    assert "around" not in _convert(f"{around}<article><p>{'words ' * 50}</p></article>").text
    several = "".join(f"<article><p>{'words ' * 9} {n}</p></article>" for n in range(5))
    assert "around" in _convert(around + several).text


def test_a_header_that_holds_the_only_h1_is_kept() -> None:
    assert _convert("<header><h1>Title</h1></header><p>Text.</p>").text == "# Title\n\nText.\n"
    assert _convert("<header><h1>Site</h1></header><h1>Title</h1><p>Text.</p>").text == "# Title\n\nText.\n"
    assert (
        _convert("<main><article><header><h1>T</h1><p>Lead.</p></header></article></main>").text
        == "# T\n\nLead.\n"
    )


def test_names_that_only_look_like_boilerplate_do_not_cost_content() -> None:
    for kept in (
        '<article class="header-note">kept</article>',
        '<div class="footnotes">kept</div>',
        '<section id="cookie-banner"><p>kept</p></section>',
        '<h2 class="toc">kept</h2>',
        '<aside class="admonition">kept</aside>',
        '<aside role="note">kept</aside>',
        '<div role="tabpanel" hidden>kept</div>',
        '<form action="/x"><p>kept</p></form>',
        "<blockquote>said<footer>kept</footer></blockquote>",
        '<div class="toctree-wrapper"><ul><li><a href="a.html">kept</a></li></ul></div>',
    ):
        assert "kept" in _convert(f"<main><h1>T</h1><p>text</p>{kept}</main>").text, kept


def test_a_page_of_nothing_but_navigation_is_still_a_page() -> None:
    text = _convert('<nav><ul><li><a href="a.html">First chapter</a></li></ul></nav>').text
    assert text == "# Page\n\n- [First chapter](https://docs.example.org/guide/a.html)\n"


def test_keys_to_the_nodes_around_are_no_text_of_a_manual() -> None:
    keys = """<div class="header"><p>
    Next: <a href="#lids" accesskey="n" rel="next">Lids</a>, Previous: <a href="#top" accesskey="p">Top</a>,
    Up: <a href="#top" accesskey="u">Top</a> &nbsp; [<a href="#toc" rel="contents">Contents</a>]</p></div>"""
    table = """<table class="navigation" id="top"><tr><td class="shortcuts"><a href="#d">Description</a></td>
    <td><a accesskey="p" href="a.html">Prev</a></td></tr></table>"""
    said = '<p>Press <a href="#next" accesskey="n">Next</a> to go on.</p>'
    text = _convert(
        f"{table}<h1>Jars</h1>{keys}<h2 id='jam'>Jam</h2>{said}{keys}<h2 id='lids'>Lids</h2><p>l</p>"
    ).text
    assert text == (
        "# Jars\n\n## Jam {#jam}\n\nPress [Next](https://docs.example.org/guide/page.html#next) to go on.\n\n"
        "## Lids {#lids}\n\nl\n"
    )


def test_an_empty_page_has_no_text_but_its_title() -> None:
    assert _convert("").text == "# Page\n"
    assert _convert("", head="") == Converted(title=_URL, text="")


def test_the_title_is_the_h1_and_else_the_title_element_which_then_joins_the_text() -> None:
    assert _convert("<main><h1>Own <code>x_y</code> <a href='#'>#</a></h1>t</main>").title == "Own x_y"
    without = _convert("<main><p>t</p></main>", head="<title> A *b*\n c </title>")
    assert (without.title, without.text) == ("A *b* c", "# A \\*b\\* c\n\nt\n")
    assert split(without.text)[0].heading == "A *b* c"


@pytest.mark.parametrize("body", ["<h2>Jars</h2><p>Text.</p>", "<h1>Jars</h1><p>Text.</p>"])
def test_a_first_heading_that_names_the_site_is_not_the_title(body: str) -> None:
    converted = _convert(
        f"<h1>Larder 2 Documentation</h1>{body}", "<title>Jars | Larder 2 documentation</title>"
    )
    assert (converted.title, converted.text) == ("Jars", "# Jars\n\nText.\n")
    source = _convert("<h1>Larder</h1><h1>Source of jars</h1><p>Text.</p>", "<title>jars | Larder</title>")
    assert source.title == "Source of jars"
    linked = _convert("<h1>Larder</h1><h2>Jars <i>[src]</i></h2>", "<title>`Jars` | Larder</title>")
    assert linked.title == "`Jars` | Larder"
    home = _convert("<h1>Larder</h1><p>Text.</p>", "<title>Larder | Larder</title>")
    assert home.title == "Larder"


def test_a_first_heading_that_is_a_link_to_the_site_is_not_the_title() -> None:
    site = "<h1><a href='https://larder.example.org/'>Larder</a></h1>"
    body = f"{site}<h2 id='jars'><a href='page.html'>Chapter 4 - Jars</a></h2><p>Text.</p>"
    converted = _convert(body, "<title>4. Jars</title>")
    assert (converted.title, converted.text) == (
        "4. Jars",
        "# 4. Jars\n\n## Chapter 4 - Jars {#jars}\n\nText.\n",
    )
    project = _convert(f"{site}<h2>Install</h2><p>Text.</p>", "<title>Read me first</title>")
    assert project.title == "Larder"


def test_a_page_whose_sections_are_all_h1_is_called_as_the_box_above_them_says() -> None:
    body = (
        "<p>Larder</p><div class='title'>\nGlass Jars\n</div><div><a href='#o'>1. Overview</a></div>"
        "<h1 id='o'><span>1. </span>Overview</h1><p>o</p><h2>1.1. Lids</h2><p>l</p>{more}"
    )
    for more in ("", "<h1>2. Sizes</h1><p>s</p>"):
        converted = _convert(body.format(more=more), "<title>Glass Jars</title>")
        assert converted.title == "Glass Jars"
        paths = [section.heading for section in split(converted.text) if section.level == 2]
        assert paths == (["1. Overview", "2. Sizes"] if more else ["1. Overview"])
    site = _convert("<div>Larder</div><h1>Jars</h1><p>t</p>", "<title>Larder</title>")
    assert site.title == "Jars"
    below = _convert("<h1>Jars</h1><div>Larder</div><h1>Lids</h1><p>t</p>", "<title>Larder</title>")
    assert below.title == "Jars"


def test_code_in_a_sentence_is_one_line_wherever_its_source_breaks() -> None:
    sentence = "<p>A <code>LEFT\n       OUTER <em>JOIN</em></code> and <kbd>a\n b</kbd>.</p>"
    text = _convert(f"<main><h1>T</h1>{sentence}<pre><code>a\n  b</code></pre></main>").text
    assert text == "# T\n\nA `LEFT OUTER JOIN` and `a b`.\n\n```\na\n  b\n```\n"


def test_code_in_one_long_line_costs_no_more_than_its_length() -> None:
    assert _convert(f"<main><h1>T</h1><p>t <code>{'a' * 400_000}</code> t</p></main>").title == "T"


@pytest.mark.parametrize(
    "icon",
    ["<div class='title'>Note</div>", "<i class='fa' title='Note'></i>", "<img src='n.png' alt='Note'>"],
)
def test_a_note_of_asciidoc_is_text_and_no_table(icon: str) -> None:
    note = f"<table><tr><td class='icon'>{icon}</td><td class='content'>Keep <b>cool</b>.</td></tr></table>"
    text = _convert(f"<main><h1>T</h1><p>t</p><div class='admonitionblock note'>{note}</div></main>").text
    assert text == "# T\n\nt\n\n**Note**\n\nKeep **cool**.\n"


@pytest.mark.parametrize("title", ["Larder | Jars", "Larder - Shelves - Jars", "Larder » Jars"])
def test_a_heading_that_names_the_page_is_its_title_also_where_the_site_is_named_first(title: str) -> None:
    converted = _convert("<h1>Jars</h1><p>Text.</p><h2>Larder lids</h2>", f"<title>{title}</title>")
    assert (converted.title, converted.text) == ("Jars", "# Jars\n\nText.\n\n## Larder lids\n")


def test_headings_carry_their_anchor_wherever_it_stands() -> None:
    for markup in (
        '<h2 id="x">H</h2>',
        '<section id="x"><h2>H</h2></section>',
        '<div class="section" id="x"><span id="y"></span><h2>H</h2></div>',
        '<h2><a name="x"></a>H</h2>',
        '<h2><a id="x" class="anchor" aria-hidden="true" href="#x"></a>H</h2>',
        '<a name="x"></a><h2>H</h2>',
        '<a name="x"><h2>H</h2></a>',
        '<p><a id="x"></a></p><h2>H</h2>',
        '<h2 id="x"><a href="#x">H</a></h2>',
        '<h2 id="x">H <a href="#x">¶</a></h2>',
    ):
        assert "## H {#x}\n" in _convert(f"<main><h1>T</h1><p>t</p>{markup}</main>").text, markup


def test_an_anchor_with_underscores_and_dots_survives_to_the_section() -> None:
    text = _convert('<main><h1>T</h1><h2 id="os.path_join-x">f_g</h2><p>t</p></main>').text
    assert [s.anchor for s in split(text)] == [None, "os.path_join-x"]


def test_links_are_those_of_the_whole_page_absolute_normalised_and_once() -> None:
    converted = _convert(
        """<nav><a href="/b?utm_source=x&z=1&a=2#frag">b</a></nav><main><h1>T</h1>
        <a href="page2.html#one">1</a>
        <a href="page2.html#two">2</a><a href="#here">h</a><a href="mailto:a@example.org">m</a>
        <a href="javascript:x()">j</a><a href="HTTP://Other.example.org:80/">o</a><a href="http://[bad/">b</a></main>
        <map><area href="area.html"></map>""",
        head='<title>t</title><link rel="next" href="next.html"><link rel="stylesheet" href="s.css">',
    )
    assert converted.links == (
        "https://docs.example.org/guide/next.html",
        "https://docs.example.org/b?a=2&z=1",
        "https://docs.example.org/guide/page2.html",
        "http://other.example.org/",
        "https://docs.example.org/guide/area.html",
    )


def test_base_href_moves_links_text_and_canonical() -> None:
    head = '<title>t</title><base href="/v2/"><link rel="canonical" href="canon.html#x">'
    converted = _convert('<main><h1>T</h1><a href="a.html#x">a</a></main>', head=head)
    assert converted.links == ("https://docs.example.org/v2/a.html",)
    assert converted.canonical == "https://docs.example.org/v2/canon.html"
    assert "[a](https://docs.example.org/v2/a.html#x)" in converted.text


def test_a_canonical_link_that_is_no_web_address_is_none() -> None:
    assert _convert("<p>x", head='<link rel="canonical" href="file:///usr/share/x.html">').canonical is None


def test_metadata_is_description_and_language() -> None:
    page = '<html lang="de"><meta name="Description" content=" a  b "><meta name="date" content="now">'
    assert convert_html(page, _URL).metadata == {"description": "a b", "lang": "de"}


def test_emphasis_is_markdown_also_beyond_latin_letters() -> None:
    text = _convert(
        "<main><h1>T</h1><p><em>x</em> <strong>won’t</strong> <b> </b><del>日本</del></p></main>"
    ).text
    assert text == "# T\n\n*x* **won’t** ~~日本~~\n"


def test_code_keeps_its_spaces_and_its_blank_lines() -> None:
    code = "a  \n\n\n\n  b\t\n"
    assert f"```\n{code}```" in _convert(f"<main><h1>T</h1><pre>{code}</pre></main>").text


def test_hostile_nesting_ends() -> None:
    deep = _convert("<main><h1>T</h1>" + "<div><dl><dd><table><tr><td>" * 300 + "core" + "</main>")
    assert "core" in deep.text


_fragment = st.recursive(
    st.sampled_from(["word", " ", "\u00a0", "e\u0301", "# x", "- y", "```", "|", "<br>", "<hr>", "<img>"]),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from("p div b em a pre ul li table tr td dl dt dd h2 code".split()),  # noqa: SIM905
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)  # fmt: skip


@given(st.lists(_fragment, max_size=5).map("".join))
def test_any_markup_becomes_tidy_text_that_tiles(markup: str) -> None:
    text = _convert(f"<main><h1>T</h1>{markup}</main>").text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert unicodedata.is_normalized("NFC", text)
    sections = split(text)
    assert "".join(text[s.start : s.end] for s in sections) == text
    assert sections[0].heading == "T"


def test_tidying_twice_is_tidying_once() -> None:
    untidy = (
        "a  \n\n\n\nb\u00a0c\u200b [](x)\n\n```\n x  \n\n\n\n```\n\n\n"
        "- ```\n  y\n  \n  ```\n&#160;z \\&#160;\n\n\n"
    )
    assert tidy(untidy) == "a\n\nb c\n\n```\n x  \n\n\n\n```\n\n- ```\n  y\n\n  ```\n z \\&#160;\n"
    assert tidy(tidy(untidy)) == tidy(untidy)


def test_a_password_in_a_link_is_not_kept() -> None:
    link = '<a href="https://bob:hunter2@git.example/x.git">clone</a>'
    body = f"<main><h1>T</h1><p>{link} me@example.org</p></main>"
    converted = convert_html(body, "https://d.example/")
    assert "hunter2" not in converted.text
    assert "https://git.example/x.git" in converted.text
    assert "me@example.org" in converted.text


def test_a_page_that_sends_its_readers_on_leads_there() -> None:
    body = '<meta http-equiv="Refresh" content="0; url=latest/"><frameset><frame src="left.html"></frameset>'
    converted = convert_html(body, "https://d.example/")
    assert "https://d.example/latest/" in converted.links
    assert "https://d.example/left.html" in converted.links


def test_a_page_leads_to_its_first_links_and_says_how_many_it_has_behind_them() -> None:
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(10_500))
    found = convert_html(f"<main><p>{links}</p></main>", "http://site/")
    assert found.links == tuple(f"http://site/{n}" for n in range(10_000))
    assert found.links_left_out == 500


@pytest.mark.parametrize("tag", ["sup", "label"])
def test_a_list_of_definitions_without_any_is_no_bug(tag: str) -> None:
    body = f"<main><h1>T</h1><p>plums</p><dl><{tag}>2</{tag}></dl></main>"
    assert "plums" in convert_html(body, "https://d.example/").text


def test_a_line_break_in_a_heading_is_a_space_in_the_title() -> None:
    converted = convert_html(
        "<main><h1>Uses of Class<br>io.FileUtils</h1><p>None.</p></main>", "http://site/"
    )
    assert converted.title == "Uses of Class io.FileUtils"
    assert converted.text.startswith("# Uses of Class io.FileUtils\n")
