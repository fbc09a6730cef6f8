"""Languages that references and questions tell."""

from __future__ import annotations

import pytest

from rowen.core.search.languages import Translated, of_question, of_reference, page_of


@pytest.mark.parametrize(
    ("reference", "language", "page"),
    [
        ("content/zh-cn/docs/pods.md", "zh", "content/docs/pods.md"),
        ("docs/de/docs/install.md", "de", "docs/docs/install.md"),
        ("website/pt_BR/index.rst", "pt", "website/index.rst"),
        ("https://docs.example.org/fr/guide/", "fr", "https://docs.example.org/guide/"),
        ("i18n/de/docusaurus-plugin-content-docs/current/intro.md", "de", "docs/intro.md"),
        ("README.zh-CN.md", "zh", "README.md"),
        ("guide/readme_ja.md", "ja", "guide/readme.md"),
        ("README_it.md", "it", "README.md"),
        ("docs/setup.it.md", "it", "docs/setup.md"),
        ("docs/setup-zh_CN.md", "zh", "docs/setup.md"),
        ("docs/user-id.md", "", "docs/user-id.md"),
        ("docs/certs_ca.md", "", "docs/certs_ca.md"),
        ("docs/certs-fr-key.md", "", "docs/certs-fr-key.md"),
        ("docs/go/install.md", "", "docs/go/install.md"),
        ("docs/ts.md", "", "docs/ts.md"),
        ("src/press.py", "", "src/press.py"),
    ],
)
def test_a_folder_or_an_ending_of_a_name_says_the_language(reference: str, language: str, page: str) -> None:
    assert of_reference(reference) == Translated(language, page)


@pytest.mark.parametrize(
    ("reference", "page"),
    [
        ("it/README.md", "it/README.md"),
        ("docs/hr/index.html", "docs/hr/index.html"),
        ("https://docs.example.org/fr/", "https://docs.example.org/fr/"),
        ("README.fr.md", "README.md"),
        ("fr/guide/index.md", "guide/index.md"),
        ("fr/guide.md", "guide.md"),
        ("guide/index.md", "guide/index.md"),
    ],
)
def test_the_index_of_a_folder_is_no_sign_that_the_folder_has_translations(reference: str, page: str) -> None:
    assert page_of(reference, of_reference(reference)) == page


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("how do I create a secret", "en"),
        ("Wie erstelle ich ein Secret", "de"),
        ("comment créer un secret", "fr"),
        ("cómo crear un secreto", "es"),
        ("创建 secret", "zh"),
        ("シークレットを作成", "ja"),
        ("як створити секрет, її", "uk"),
        ("für secrets", "de"),
        ("warum secrets", "de"),
        ("os path join", ""),
        ("del statement", ""),
        ("du command", ""),
        ("css z index", ""),
        ("requests per second", ""),
        ("comment syntax", ""),
        ("kubectl port-forward", ""),
        ("RefCell", ""),
        ("de", ""),
    ],
)
def test_a_question_tells_its_language_by_letters_or_small_words(question: str, language: str) -> None:
    assert of_question(question) == language
