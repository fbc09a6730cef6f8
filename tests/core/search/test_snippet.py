from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.search.plain import plain
from rowen.core.search.query import terms
from rowen.core.search.snippet import CUT, Snippet, snippet, stem, stems_in

PAGE = """## Queues

Use `asyncio.Queue` to [distribute *work*](https://d.test/a_(b)) between **several** workers,
see [`Queue.put()`](q.html#put "put").

```python
async def main(*args, **kwargs):
    await queue.join()  # until __all__ is done
```

| name | meaning |
| ---- | :-----: |
| `put` | adds an item |

> 1. quoted
- [x] done
"""


def marked(shown: Snippet) -> str:
    """A snippet with its matches between « and »."""
    text = shown.text
    for start, end in reversed(shown.matches):
        text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    return text


def matched(shown: Snippet) -> list[str]:
    return [shown.text[start:end] for start, end in shown.matches]


def test_markdown_becomes_one_line_of_plain_text() -> None:
    assert plain(PAGE) == (
        "Queues Use asyncio.Queue to distribute work between several workers, see Queue.put(). "
        "async def main(*args, **kwargs): await queue.join() # until __all__ is done "
        "name · meaning put · adds an item quoted done"
    )


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a * b * c and 2*3*4", "a * b * c and 2*3*4"),
        ("the __init__ method", "the __init__ method"),
        ("![logo](l.png) text", "logo text"),
        ("<https://d.test/x> it", "https://d.test/x it"),
        (r"\*not emphasis\*", "*not emphasis*"),
        (
            r"members of *\*paths*, with **\*\*kwargs** and *a\** too",
            "members of *paths, with **kwargs and a* too",
        ),
        (r"a \*b* and *c\ d*", r"a *b* and c\ d"),
        ("``a ` b`` c", "a ` b c"),
        ("~~~\n# kept\n```\n~~~\nend", "# kept ``` end"),
        ("«oui» “non”", "«oui» “non”"),
        ("array[0](x y) [a](b c)", "array[0](x y) [a](b c)"),
        ("", ""),
        ("A _slow_ start, and _two words_.", "A slow start, and two words."),
        ("snake_case and __init__ and a_b_c stay", "snake_case and __init__ and a_b_c stay"),
        ("**Table 28.40. `pg_stat` View** and *a `b*c` d*", "Table 28.40. pg_stat View and a b*c d"),
        (r"Default: **['\*eslint\*', '\*x\*']** **", "Default: ['*eslint*', '*x*'] **"),
        (f"`f(*a, {'x' * 500}, *b)`", f"f(*a, {'x' * 500}, *b)"),
        ("`", "`"),
        ("{.hide-header}\n(the-place)=\n{: #x .y }\n(kept) = {.so}\nend", "(kept) = {.so} end"),
        ("`**kwargs` and `*args`", "**kwargs and *args"),
        ("[`a[0]` of it](x.html) `c`", "a[0] of it c"),
        ('<Card href="/a" title="A card"/> Cards', "Cards"),
        ("Now<br>then <sup>1</sup></div>", "Now then 1"),
        (
            "the [words][] and [more `x`][ref], but a[i][j] and x[0]",
            "the words and more x, but a[i][j] and x[0]",
        ),
        ("end.\n[words]: /where/ever\n[ref]: <a b> 'T'\n[so]: it is said", "end. [so]: it is said"),
        ("> [!NOTE]\n> Words of [!IT]", "NOTE Words of [!IT]"),
        ("> [!TIP]\n>\n> After a blank line", "TIP After a blank line"),
        ("{{< new-in 1.2 />}} It {{% md %}}is{{% /md %}} {{ .Title }}", "It is {{ .Title }}"),
        (
            'a {{< tooltip term_id="node" >}} runs {{<tooltip text="pods" term_id="pod">}}.',
            "a node runs pods.",
        ),
        ("{class}`Path` in {x} <!-- hidden --> `{y}`", "Path in {x} {y}"),
        ("`&lt;` is &lt;x&gt; &#33; AT&T; &copy=1", "&lt; is <x> ! AT&T; &copy=1"),
        (
            "A `<div>` and Vec<String>, HashMap<K, V>, a <b and c> d",
            "A <div> and Vec<String>, HashMap<K, V>, a <b and c> d",
        ),
    ],
)
def test_only_marks_are_taken_away(markdown: str, expected: str) -> None:
    assert plain(markdown) == expected


def test_matched_words_are_marked_in_all_their_forms() -> None:
    text = "Configuring a server: the configuration is read, configured servers restart."
    assert marked(snippet(text, terms("configure server"))) == (
        "«Configuring» a «server»: the «configuration» is read, «configured» «servers» restart."
    )


def test_the_window_is_where_most_different_terms_meet() -> None:
    text = "queue " * 30 + "x " * 200 + "the queue blocks until a timeout ends " + "y " * 200
    shown = marked(snippet(text, ["queue", "timeout"], width=80))
    assert "«queue» blocks until a «timeout»" in shown
    assert shown.startswith(CUT)
    assert shown.endswith(CUT)


def test_without_a_match_the_beginning_is_shown() -> None:
    assert snippet("one two three four", ["absent"], width=10) == ("one two…", ())
    assert snippet("short", ["absent"]) == ("short", ())
    assert snippet("short", []) == ("short", ())
    assert snippet("x" * 50, [], width=10) == ("x" * 10 + CUT, ())


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("Install the package first", ["package"]) == ("Install the package first", ((12, 19),))


def test_quotation_marks_of_the_text_stay_as_they_are() -> None:
    assert snippet("On dit «oui» au paquet", ["oui"]) == ("On dit «oui» au paquet", ((8, 11),))


def test_pairs_are_marked_as_one_stretch_inside_a_run() -> None:
    assert marked(snippet("日本語の文章を検索する", terms("文章検索"))) == "日本語の«文章»を«検索»する"
    assert marked(snippet("検索エンジンの設定", terms("検索エンジン"))) == "«検索エンジン»の設定"
    assert marked(snippet("猫が好き", terms("猫"))) == "«猫»が好き"


def test_accents_do_not_hide_a_match() -> None:
    assert marked(snippet("Das Café dort", ["cafe"])) == "Das «Café» dort"


def test_a_long_text_is_cut_at_words() -> None:
    words = [f"word{n}" for n in range(500)]
    shown = snippet(" ".join(words), ["word250"], width=100)
    assert set(shown.text.replace(CUT, "").split()) <= set(words)
    assert 60 <= len(shown.text) <= 102


@pytest.mark.parametrize(
    "forms",
    [
        "run runs running",
        "use uses used using",
        "query queries",
        "class classes",
        "configure configures configured configuring configuration configurations",
        "create creates created creating creation",
        "delete deleted deletion deletions",
        "process processes processing",
        "need needs needed",
        "stop stopped stopping",
        "copy copies copied copying",
        "handle handler handlers",
        "document documents documented documentation",
        "implement implements implementation",
        "require requires requirement requirements",
        "deploy deploys deploying deployment",
        "differ difference differences different",
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["string sting", "status state", "server serve", "class clas", "thing the"])
def test_different_words_keep_different_stems(pair: str) -> None:
    first, second = pair.split()
    assert stem(first) != stem(second)


@pytest.mark.parametrize(
    "nasty", ["[" * 20_000, "`a ``" * 5_000, "*a **" * 5_000, "-" * 20_000 + "x", "- " * 9_000]
)
def test_hostile_text_does_not_stop_a_search(nasty: str) -> None:
    started = time.process_time()
    snippet(nasty, ["a"])
    assert time.process_time() - started < 5


MARKDOWN = st.text(
    alphabet=st.sampled_from("ab cd\n\n  run`*[]()|#-_<>\\«»…日本語。é.!1"), max_size=300
) | st.text(max_size=200)
TERMS = st.lists(
    st.sampled_from(["a", "b", "cd", "run", "日本", "本語", "語", "é", "1", "absent"]), max_size=4
)


@given(MARKDOWN, TERMS, st.integers(1, 120))
def test_a_snippet_is_a_stretch_of_the_plain_text_with_matches_in_order(
    text: str, words: list[str], width: int
) -> None:
    shown, matches = snippet(text, words, width=width)
    assert "\n" not in shown
    borders = [border for match in matches for border in match]
    assert all(0 <= start < end <= len(shown) for start, end in matches)
    assert borders == sorted(borders)
    line = plain(text)
    # The text may have ellipses of its own: one of the ways to take ours off must fit.
    assert any(
        shown[i : len(shown) - j] in line for i in (0, shown[:1] == CUT) for j in (0, shown[-1:] == CUT)
    )


@given(MARKDOWN, TERMS, st.integers(1, 120))
def test_what_matches_is_always_in_view(text: str, words: list[str], width: int) -> None:
    whole = matched(snippet(text, words, width=10_000))
    shown = matched(snippet(text, words, width=width))
    assert bool(shown) == bool(whole)
    assert set(shown) <= set(whole), "no matched word is cut"


@given(MARKDOWN, st.integers(20, 120))
def test_a_snippet_keeps_to_its_width(text: str, width: int) -> None:
    longest = max((len(word) for word in plain(text).split()), default=0)
    assert len(snippet(text, [], width=width).text) <= max(width, min(longest, width)) + len(CUT)


@given(
    st.text(st.sampled_from("aeiyrsgnt ABI_-.²éß日\n"), max_size=60),
    st.lists(st.text(st.sampled_from("aeiyrsgnt"), min_size=1, max_size=6), max_size=4),
)
def test_stems_are_looked_for_quickly_and_found_as_by_reading_every_word(text: str, words: list[str]) -> None:
    wanted = {stem(word) for word in words}
    assert stems_in(text, wanted) == wanted & {stem(word) for word in re.findall(r"[^\W_]+", text.lower())}


@given(st.text(st.sampled_from("ab \t\n\r\x0b\x1c\x1f\x85\xa0\u2028é"), max_size=30))
def test_a_line_has_single_spaces_whatever_stood_between_its_words(text: str) -> None:
    assert plain(text) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        (
            "Die Datenschutzgrundverordnung gilt und wird erweitert.",
            "datenschutz",
            ["Datenschutzgrundverordnung"],
        ),
        ("Die Bodenrichtwerte werden nicht gezeigt.", "richtwert", ["Bodenrichtwerte"]),
        ("Für Bodenrichtwerte, und über Preise.", "richtwert", ["Bodenrichtwerte"]),
        ("Nothing here is about rightwards things.", "rightward", ["rightwards"]),
        ("The copyrightwards arrow of no German text.", "rightward", []),
    ],
)
def test_a_part_of_a_compound_is_marked_in_german_texts_only(
    text: str, term: str, expected: list[str]
) -> None:
    assert matched(snippet(text, [term])) == expected


def test_a_definition_that_was_asked_for_is_shown_from_its_beginning() -> None:
    text = "asyncio.timeout(delay) limits the time that is spent. " + "More words. " * 40 + "timeout timeout"
    shown = snippet(text, ["timeout"], from_beginning=True)
    assert shown.text.startswith("asyncio.timeout(delay) limits the time")
    assert shown.text.endswith("…")
    assert [shown.text[start:end] for start, end in shown.matches] == ["timeout"]
