"""Which pages ask for a password and are about nothing else."""

from __future__ import annotations

import pytest

from rowen.core.web.login import FEW_WORDS, is_login_page

BODY = b"<form><input name=p type='password'></form>"


@pytest.mark.parametrize(
    ("words", "asks"), [(0, True), (FEW_WORDS - 1, True), (FEW_WORDS, False), (FEW_WORDS * 3, False)]
)
def test_a_page_with_a_password_field_and_few_words_is_a_login_page(words: int, *, asks: bool) -> None:
    text = " word\n" * words
    assert is_login_page(BODY, text) is asks
    assert not is_login_page(b"<form></form>", text)
