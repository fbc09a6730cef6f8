"""Bytes to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.convert.charset import codec_for, decode

_TEXT = "<p>Größe – 20 €</p>"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (_TEXT.encode("utf-8-sig"), "text/html; charset=iso-8859-1"),
        (b"\xff\xfe" + _TEXT.encode("utf-16-le"), "text/html"),
        (b"\xfe\xff" + _TEXT.encode("utf-16-be"), "text/html; charset=utf-8"),
        (_TEXT.encode("cp1252"), "text/html; charset=ISO-8859-1"),
        (_TEXT.encode("cp1252"), 'text/html;charset="us-ascii"'),
        (_TEXT.encode("utf-8"), "text/html"),
        (_TEXT.encode("utf-8"), "text/html; charset=no-such-charset"),
        (_TEXT.encode("utf-8"), "text/html; charset=base64"),
    ],
)
def test_a_mark_wins_over_the_header_and_the_header_means_what_it_means_on_the_web(
    body: bytes, content_type: str
) -> None:
    assert decode(body, content_type) == _TEXT


def test_a_server_that_calls_every_page_latin_1_spoils_no_page_in_utf_8() -> None:
    header = "text/html; charset=ISO-8859-1"
    for page in (_TEXT, f'<meta charset="utf-8">{_TEXT}'):
        assert decode(page.encode(), header) == page
    assert decode(_TEXT.encode(), "text/markdown; charset=iso-8859-1", is_html=False) == _TEXT
    both = '<meta charset="iso-8859-1">Ã©'
    assert decode(both.encode("cp1252"), header) == both, "the page says so itself"
    assert decode(_TEXT.encode("cp1252"), header) == _TEXT


@pytest.mark.parametrize(
    "meta",
    [
        '<meta charset="windows-1251">',
        "<META CHARSET=windows-1251>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        '<!-- <meta charset="utf-8"> --><meta charset="windows-1251">',
    ],
)
def test_a_meta_element_decides_when_the_header_does_not(meta: str) -> None:
    page = f"{meta}<p>Привет</p>"
    assert decode(page.encode("cp1251"), "text/html") == page
    assert decode(page.encode("utf-8"), "text/html; charset=utf-8") == page


def test_a_meta_element_is_not_looked_for_in_plain_text() -> None:
    text = '<meta charset="windows-1251"> größer'
    assert decode(text.encode(), "text/plain", is_html=False) == text


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("これは日本語の文章です。文字コードを推測します。" * 5, "shift_jis"),
        ("Это русский текст, кодировку которого надо угадать. " * 5, "koi8-r"),
        ("这是一个中文网页，需要猜测它的编码。" * 5, "gb2312"),
    ],
)
def test_the_bytes_decide_when_nobody_says(text: str, codec: str) -> None:
    assert decode(text.encode(codec), "text/html") == text


def test_one_broken_byte_does_not_unmake_declared_utf_8() -> None:
    assert decode("Größe ".encode() + b"\xff", "text/html; charset=utf-8") == "Größe \ufffd"


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("latin1", "cp1252"),
        ("GB2312", "gb18030"),
        ("Shift_JIS", "cp932"),
        ("x-sjis", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("utf8", "utf-8"),
        ("hex", None),
        ("rot13", None),
        ("punycode", None),
        ("\0", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, codec: str | None) -> None:
    assert codec_for(label) == codec


@given(st.binary(), st.text())
def test_no_bytes_and_no_header_make_it_fail(body: bytes, content_type: str) -> None:
    decode(body, content_type)
    decode(body, f"text/html; charset={content_type}")
