from __future__ import annotations

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowen.core.search.query import MAX_TERMS, STOP_WORDS, fts5_match, indexable, terms

TOKENIZE = "tokenize='porter unicode61 remove_diacritics 2'"


@pytest.fixture(scope="module")
def index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE docs USING fts5(heading, body, {TOKENIZE})")
    return connection


def found(connection: apsw.Connection, query: str) -> list[str]:
    rows = connection.execute("SELECT body FROM docs WHERE docs MATCH ?", (fts5_match(terms(query)),))
    return [body for (body,) in rows]


def matches(text: str, query: str) -> bool:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE docs USING fts5(heading, body, {TOKENIZE})")
    connection.execute("INSERT INTO docs VALUES ('', ?)", (indexable(text),))
    return bool(found(connection, query))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Install Rowen", ["install", "rowen"]),
        ("How do I install it?", ["install"]),
        ("asyncio.Queue.put_nowait()", ["asyncio", "queue", "put", "nowait"]),
        ("retry retry backoff", ["retry", "retry", "backoff"]),
        ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("?!  --", []),
        ("", []),
        ("HTTP/2 304", ["http", "2", "304"]),
        ("日本語", ["日本", "本語"]),
        ("Python入門3", ["python", "入門", "3"]),
        ("猫", ["猫"]),
        ("Straße ÜBER", ["straße", "über"]),
    ],
)
def test_a_query_becomes_the_words_to_look_for(query: str, expected: list[str]) -> None:
    assert terms(query) == expected


def test_a_pasted_page_is_cut_to_its_first_terms() -> None:
    page = " ".join(f"the word{n}" for n in range(10_000))
    assert terms(page) == [f"word{n}" for n in range(MAX_TERMS)]


def test_about_ninety_words_are_too_common_to_look_for() -> None:
    assert 80 <= len(STOP_WORDS) <= 110
    assert {"the", "how", "is"} <= STOP_WORDS
    assert STOP_WORDS.isdisjoint({"re", "get", "import", "yield", "install"})


@pytest.mark.parametrize("text", ["", "plain text", "naïve café, ½ µs", "Привет, мир"])
def test_text_without_cjk_is_indexed_as_it_is(text: str) -> None:
    assert indexable(text) is text


def test_cjk_text_is_indexed_as_pairs() -> None:
    assert indexable("日本語の本").split() == ["日本", "本語", "語の", "の本"]
    assert indexable("see 猫 and Python入門").split() == ["see", "猫", "and", "Python", "入門"]
    assert indexable("カタカナ・ひらがな").split() == ["カタ", "タカ", "カナ", "・", "ひら", "らが", "がな"]


@given(st.text(alphabet="ab 日本語カナ한국、。", max_size=30))
def test_pairs_keep_every_character(text: str) -> None:
    # Every second character of a run's pairs, and the first, spell the run again.
    words = indexable(text).split()
    assert set("".join(words)) == set("".join(text.split()))


def test_both_sides_of_the_index_agree() -> None:
    assert matches("検索エンジンの設定", "エンジン")
    assert matches("検索エンジンの設定", "検索の方法") is True, "any pair is enough"
    assert not matches("検索エンジンの設定", "天気")
    assert matches("한국어 문서를 검색", "문서")
    assert matches("猫が好き", "猫"), "one character is the beginning of a pair"
    assert matches("Configuring the server", "configure")
    assert matches("Das Café", "cafe")
    assert matches("call put_nowait()", "nowait")


def test_no_terms_match_nothing(index: apsw.Connection) -> None:
    assert fts5_match([]) == '""'
    assert found(index, "???") == []


def test_every_term_is_quoted() -> None:
    assert fts5_match(["a", "or", 'say "x"']) == '"a" OR "or" OR "say ""x"""'


NASTY = st.text(alphabet="\"*^:(){}+-,\0 aANDORTNE'\\猫\u0300é", max_size=40)


@given(st.text(max_size=40) | NASTY)
@example('"')
@example("NEAR(a b, 5)")
@example("heading : x")
@example("\0")
@example("a\0b")
def test_nothing_a_user_types_is_syntax(index: apsw.Connection, query: str) -> None:
    found(index, query)


@given(st.lists(st.text(max_size=10) | NASTY, max_size=5))
def test_not_even_terms_made_elsewhere_are_syntax(index: apsw.Connection, words: list[str]) -> None:
    list(index.execute("SELECT rowid FROM docs WHERE docs MATCH ?", (fts5_match(words),)))


# Old letters only: newer ones are letters to one table of Unicode and unknown to the other.
@given(st.text(alphabet=st.characters(max_codepoint=0x24F) | st.sampled_from("日本語カナ、。"), max_size=60))
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    words = [word for word in terms(text) if word.isascii()]
    if words:
        assert matches(text, words[0])
