"""How much a document counts among others, by what its reference says it is: a page, a source, a test.

A repository has all three, and a question in words is answered by its pages. Weights decide between documents
that say much the same; where a repository has sources alone, nothing changes. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from rowen.core.search.languages import of_question
from rowen.core.search.snippet import stem
from rowen.core.search.symbols import has_names
from rowen.patterns import pattern

KINDS = frozenset(("files", "git", "github"))
"""Kinds of sources that hold more than pages."""


class Role(IntEnum):
    PAGE = 0
    SOURCE = 1
    TEST = 2


WEIGHTS = {Role.PAGE: 1.0, Role.SOURCE: 0.85, Role.TEST: 0.6}
IN_WORDS = {Role.PAGE: 1.0, Role.SOURCE: 0.7, Role.TEST: 0.5}
"""For a question that is a sentence and names nothing of a program."""
COLLECTION = 0.9
"""For a page that holds others, such as a manual in one page: the page itself tells where something is."""
LEAST_COLLECTED, TIMES_THE_MEAN = 0.5, 5
"""So many of its sections stand in shorter pages too, and it has so many times the sections of a page."""
OTHER_LANGUAGE = 0.35
"""For a page of which the source has the translation that the question is in."""


class Wanted(NamedTuple):
    """What a question says about the documents that answer it."""

    language: str = ""
    """That it is in; empty when it does not tell."""
    about_tests: bool = False
    in_words: bool = False
    """It is a sentence, and names nothing of a program."""


ANYTHING = Wanted()
_PROSE = frozenset((
    "md", "markdown", "mdown", "mkd", "mkdn", "mdwn", "mdx", "qmd", "rmd", "livemd", "myst", "rst",
    "rest", "txt", "text", "adoc", "asciidoc", "html", "htm", "xhtml", "pdf", "docx", "docm", "pptx",
    "pptm", "xlsx", "xlsm", "ipynb", "org", "tex", "wiki",
))  # fmt: skip
_TESTS = frozenset((
    "test", "tests", "__tests__", "testdata", "test_data", "test-data", "fixtures", "__fixtures__",
    "snapshots", "e2e",
))  # fmt: skip
_TESTS_OF_CODE = _TESTS | {"testing", "spec", "specs"}
"""`testing` and `spec` may hold pages about tests, and specifications."""
_DOCUMENTATION = frozenset((
    "doc", "docs", "documentation", "manual", "manuals", "guide", "guides", "content", "website", "site",
))  # fmt: skip
_SPHINX = frozenset(("_sources", "_modules"))
"""Where Sphinx puts the sources of its pages, and source code that they document, beside the pages."""
_TEST_FILE = pattern(
    r"(?:^|/)(?:test_[^/]*|conftest|[^/]*[._-](?:tests?|specs?)|[^/]*[a-z]Tests?)\.[a-z]{1,4}$"
)
_ABOUT_TESTS = frozenset(map(stem, (
    "test", "tests", "testing", "unittest", "pytest", "spec", "specs", "fixture", "fixtures", "mock",
    "mocks",
)))  # fmt: skip


def role_in(kind: str, reference: str) -> Role:
    """What is crawled are pages, but sites made with Sphinx lead to sources, too."""
    if kind in KINDS:
        return role_of(reference)
    return Role.SOURCE if _is_shown_source(reference) else Role.PAGE


def _is_shown_source(reference: str) -> bool:
    return not _SPHINX.isdisjoint(reference.lower().split("/")[:-1])


def role_of(reference: str) -> Role:
    """What a file of a folder or a repository is."""
    path, _, name = reference.rpartition("/")
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    is_prose = not ending or ending in _PROSE
    folders = path.lower().split("/")
    if _is_shown_source(reference):
        return Role.SOURCE
    if is_prose and name.lower().startswith("readme"):
        return Role.PAGE
    # A manual may have pages about tests, and tests may have a manual to work on: the outer folder tells.
    telling = _TESTS | _DOCUMENTATION if is_prose else _TESTS_OF_CODE
    outer = next((one for one in folders if one in telling), "")
    if outer in _TESTS_OF_CODE:
        return Role.TEST
    if is_prose:
        return Role.PAGE
    return Role.TEST if _TEST_FILE.search(name) else Role.SOURCE


def weight_of(role: Role, wanted: Wanted = ANYTHING) -> float:
    weights = IN_WORDS if wanted.in_words else WEIGHTS
    return weights[Role.SOURCE if wanted.about_tests and role is Role.TEST else role]


def wanted_by(question: str, terms: Iterable[str]) -> Wanted:
    language = of_question(question)
    return Wanted(
        language=language,
        about_tests=not _ABOUT_TESTS.isdisjoint(map(stem, terms)),
        in_words=bool(language) and not has_names(question),
    )
