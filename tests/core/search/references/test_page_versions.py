"""Which references are versions of one page, and which version is current."""

from __future__ import annotations

import pytest

from rowen.core.search.references.page_versions import UNVERSIONED, Sign, asked_for, page_key, read

TITLE = frozenset({"plugin"})


def sign(reference: str) -> Sign:
    return Sign(read(reference).edition & 3)


@pytest.mark.parametrize(
    "newest_first",
    [
        (
            "docs/plugins.md",
            "versioned_docs/version-3.0/plugins.md",
            "versioned_docs/version-2.x/plugins.md",
            "versioned_docs/version-2.0/plugins.md",
            "docs/next/plugins.md",
        ),
        ("docs/plugins.md", "website/versioned_docs/version-3.0/plugins.md"),
        ("community/team.md", "community_versioned_docs/version-1.0/team.md"),
        (
            "https://docs.example/en/stable/db/",
            "https://docs.example/en/latest/db/",
            "https://docs.example/en/10.0/db/",
            "https://docs.example/en/1.11/db/",
            "https://docs.example/en/1.2/db/",
            "https://docs.example/en/1.2rc1/db/",
            "https://docs.example/en/1.2b2/db/",
            "https://docs.example/en/dev/db/",
        ),
        (
            "https://docs.example/3/os.html",
            "https://docs.example/3.12/os.html",
            "https://docs.example/3.8/os.html",
            "https://docs.example/2/os.html",
            "https://docs.example/2.7/os.html",
        ),
        ("docs/v2/intro.md", "docs/v1/intro.md"),
        ("https://a.example/help/2023.2/run.html?tab=1", "https://a.example/help/2022.3/run.html?tab=1"),
    ],
)
def test_pages_that_differ_in_a_version_are_one_and_ordered_by_it(newest_first: tuple[str, ...]) -> None:
    named = [read(one) for one in newest_first]
    assert len({one.page for one in named}) == 1
    editions = [one.edition for one in named]
    assert editions == sorted(set(editions), reverse=True)


@pytest.mark.parametrize(
    "reference",
    [
        "https://a.example/api/v1/users/",
        "https://api.a.example/v2/users",
        "docs/rest/2.0/orders.md",
        "https://a.example/blog/2023/05/hello.html",
        "https://a.example/docs/2023.05/hello.html",
        "https://a.example/docs/2023.05.12/hello.html",
        "docs/changelog/2.0/index.md",
        "https://a.example/release-notes/2.0/",
        "docs/changes/2.0.md",
        "book/chapters/1.2/text.md",
        "tutorial/01/start.md",
        "courses/press/1.2/start.md",
        "1.2/exercise.md",
        "docs/v1",
    ],
)
def test_interfaces_dates_notes_of_releases_chapters_and_files_are_no_versions(reference: str) -> None:
    assert read(reference) == (f"/{reference}", UNVERSIONED)


def test_a_number_alone_tells_less_than_one_with_a_dot_or_a_name() -> None:
    assert sign("docs/16/wal.html") is Sign.BARE
    assert sign("pkg/v2/types.go") is Sign.BARE
    assert sign("docs/v2/types.md") is Sign.NUMBER
    assert sign("https://docs.example/v2/types.html") is Sign.NUMBER
    assert sign("docs/1.0/wal.html") is Sign.NUMBER
    assert sign("docs/latest/wal.html") is Sign.NAME
    assert sign("src/main/app.ts") is Sign.NONE


def test_a_title_belongs_to_the_page_but_not_the_version_in_it() -> None:
    page = read("docs/1.0/a.md").page
    assert page_key(1, page, TITLE) == page_key(1, page, TITLE | {"1", "v", "v2"})
    assert page_key(1, page, TITLE) != page_key(1, page, TITLE | {"loop"})
    assert page_key(1, page, TITLE) != page_key(2, page, TITLE)


def asks(query: str, reference: str, of: str = "") -> int:
    edition = read(reference).edition
    return max(
        (one.worth for one in asked_for(query) if one.low <= edition <= one.high and one.of == of), default=0
    )


def test_a_question_names_the_versions_that_it_means() -> None:
    old, open_, new = (f"docs/{one}/a.md" for one in ("2.0", "2.x", "2.1"))
    for query in ("docusaurus 2.0 plugin", "plugin v2.0", "plugin-2.0", "2.0"):
        assert asks(query, old) > asks(query, open_) > asks(query, new) == 0, query
    for query in ("plugin v2", "plugin 2.x", "version 2 plugins"):
        assert asks(query, old) == asks(query, new) > 0, query
    assert asks("plugin 2.0", "docs/2.0rc1/a.md") == asks("plugin 2.0", old)
    assert asks("plugin 2.0", "docs/a.md") == asks("plugin 2.0", "docs/latest/a.md") == 0


def test_a_number_alone_means_a_version_only_of_what_stands_before_it() -> None:
    assert {one.of for one in asked_for("postgres 14 replication")} == {"postgres"}
    assert asks("postgres 14", "docs/14/a.md", of="postgres") > asks("postgres 14", "docs/14/a.md") == 0
    for query in (
        "14",
        "a 14",
        "oauth 2.0",
        "tls 1.2 settings",
        "127.0.0.1.5",
        "year 2023",
        "sqlite3",
        "x2.0",
    ):
        assert asked_for(query) == (), query
