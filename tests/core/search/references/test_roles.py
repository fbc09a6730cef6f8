"""What a document is, said by its reference."""

from __future__ import annotations

import pytest

from rowen.core.search.references.roles import Role, Wanted, role_in, role_of, wanted_by, weight_of


@pytest.mark.parametrize(
    ("reference", "role"),
    [
        ("docs/guide/install.md", Role.PAGE),
        ("README", Role.PAGE),
        ("tests/README.md", Role.PAGE),
        ("docs/tests/writing.md", Role.PAGE),
        ("spec/protocol.md", Role.PAGE),
        ("tests/world/docs/jars.md", Role.TEST),
        ("press/__tests__/__fixtures__/website/jars.md", Role.TEST),
        ("docs/tests/fixtures/jars.py", Role.TEST),
        ("src/press.py", Role.SOURCE),
        ("data/redirects.yml", Role.SOURCE),
        ("src/latest.py", Role.SOURCE),
        ("html/_sources/command/press.rst.txt", Role.SOURCE),
        ("tests/press/jars.py", Role.TEST),
        ("tests/press/pages/a.html", Role.TEST),
        ("testing/press.py", Role.TEST),
        ("src/test_press.py", Role.TEST),
        ("press/press_test.go", Role.TEST),
        ("src/press.spec.ts", Role.TEST),
        ("src/main/PressTest.java", Role.TEST),
    ],
)
def test_the_role_of_a_file_is_said_by_its_folders_and_its_name(reference: str, role: Role) -> None:
    assert role_of(reference) is role


@pytest.mark.parametrize(
    ("reference", "role"),
    [
        ("https://press.example/en/_sources/jars.rst.txt", Role.SOURCE),
        ("https://press.example/en/_modules/press/jars.html", Role.SOURCE),
        ("https://press.example/en/jars.html", Role.PAGE),
        ("https://press.example/en/_sources", Role.PAGE),
        ("https://press.example/tests/api.json", Role.PAGE),
    ],
)
def test_what_is_crawled_is_a_page_unless_it_shows_a_source(reference: str, role: Role) -> None:
    assert role_in("web", reference) is role


@pytest.mark.parametrize("in_words", [False, True])
def test_pages_count_more_than_sources_and_sources_more_than_tests(in_words: bool) -> None:
    page, source, test = (weight_of(role, Wanted(in_words=in_words)) for role in Role)
    assert 1.0 == page > source > test


def test_a_sentence_is_answered_by_pages_before_a_name_is() -> None:
    assert weight_of(Role.SOURCE, Wanted(in_words=True)) < weight_of(Role.SOURCE)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("how do I press olives", Wanted("en", in_words=True)),
        ("how do I call press_olives", Wanted("en")),
        ("press olives", Wanted()),
        ("run the tests", Wanted("en", about_tests=True, in_words=True)),
    ],
)
def test_a_question_says_what_it_wants(question: str, wanted: Wanted) -> None:
    assert wanted_by(question, question.split()) == wanted


def test_a_question_about_tests_takes_them_for_sources() -> None:
    assert weight_of(Role.TEST, Wanted(about_tests=True)) == weight_of(Role.SOURCE)
