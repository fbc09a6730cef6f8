"""Addresses of repositories, what trees say, and what the API's headers ask for."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange import git
from rowen.core.exchange.git import Entry, File, Folder, gather
from rowen.errors import Unparseable
from rowen.kinds.github import rules as github
from rowen.kinds.github.rules import Address

NOW = datetime(2024, 1, 1, tzinfo=UTC)


def address(**parts: str) -> Address:
    return Address(**{"site": "https://github.com", "owner": "acre", "name": "docs", **parts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("location", "read"),
    [
        ("https://github.com/acre/docs", address()),
        ("https://github.com/acre/docs/", address()),
        ("https://github.com/acre/docs.git", address()),
        ("http://www.github.com/acre/docs?tab=readme#top", address()),
        ("github.com/acre/docs", address()),
        ("git@github.com:acre/docs.git", address()),
        ("ssh://git@github.com/acre/docs.git", address()),
        ("ssh://git@github.com:22/acre/docs", address()),
        ("https://github.com/acre/docs/tree/v1.2", address(branch="v1.2")),
        ("https://github.com/acre/docs/tree/main/a/b%20c", address(branch="main", path="a/b c")),
        ("https://github.com/acre/docs/tree/feature%2Fx/a", address(branch="feature/x", path="a")),
        ("https://github.com/acre/docs/blob/main/a.md", address(branch="main", path="a.md")),
        ("https://ghe.example.com:8443/acre/docs", address(site="https://ghe.example.com:8443")),
    ],
)
def test_every_spelling_of_an_address_is_read(location: str, read: Address) -> None:
    assert github.parse_address(location) == read


@pytest.mark.parametrize(
    "location",
    [
        "https://github.com/",
        "https://github.com/acre",
        "https://github.com/acre/docs/wiki",
        "https://github.com/acre/docs/issues/3",
        "https://github.com/acre/docs/tree",
        "https://github.com/features/actions",
        "https://github.com/acre/.git",
        "https://user:secret@github.com/acre/docs",
        "git+https://github.com/acre/docs",
        "ftp://github.com/acre/docs",
        "/home/acre/docs",
        "",
    ],
)
def test_what_is_no_address_of_files_is_left_to_others(location: str) -> None:
    assert github.parse_address(location) is None


NAMES = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="/"), min_size=1
).filter(lambda name: name.strip(". ") == name and name)


@given(NAMES, st.lists(NAMES, max_size=3))
def test_a_location_can_be_read_back(branch: str, folders: list[str]) -> None:
    whole = address(branch=branch, path="/".join(folders))
    if len(whole.location) < 1_500:
        assert github.parse_address(whole.location) == whole


def test_a_branch_may_end_at_any_slash() -> None:
    readings = [(one.branch, one.path) for one in address(branch="a", path="b/c").readings()]
    assert readings == [("a", "b/c"), ("a/b", "c"), ("a/b/c", "")]
    assert list(address().readings()) == [address()]


def test_pages_are_quoted_and_follow_the_default_branch() -> None:
    assert address().page_of("a b/c#d?.md") == "https://github.com/acre/docs/blob/HEAD/a%20b/c%23d%3F.md"
    assert address(branch="f/x").page_of("a.md") == "https://github.com/acre/docs/blob/f/x/a.md"


@pytest.mark.parametrize(
    ("status", "headers", "body", "wait_s"),
    [
        (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1704070800"}, b"", None),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1704070800"}, b"", 3600.0),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1704070800"}, b"", 3600.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1704067000"}, b"", 1.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, b"", 60.0),
        (403, {"x-ratelimit-remaining": "0"}, b"", 60.0),
        (
            403,
            {"retry-after": "30", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1704070800"},
            b"",
            30.0,
        ),
        (403, {"x-ratelimit-remaining": "40"}, b"You have exceeded a secondary rate limit", 60.0),
        (403, {"x-ratelimit-remaining": "40"}, b"Resource not accessible", None),
        (429, {}, b"", 60.0),
        (404, {"retry-after": "30"}, b"", None),
    ],
)
def test_headers_say_how_long_to_stay_away(
    status: int, headers: dict[str, str], body: bytes, wait_s: float | None
) -> None:
    assert github.limited_s(status, headers, body, NOW) == wait_s


def test_a_tree_is_read_with_its_sizes_and_whether_it_is_whole() -> None:
    body = {
        "sha": "f" * 40,
        "tree": [
            {"path": "a.md", "mode": "100644", "type": "blob", "sha": "1" * 40, "size": 3, "url": "x"},
            {"path": "b", "mode": "040000", "type": "tree", "sha": "2" * 40},
        ],
        "truncated": True,
    }
    tree = github.parse_tree(json.dumps(body).encode())
    assert tree.truncated
    assert tree.entries == [Entry("a.md", "100644", "1" * 40, 3), Entry("b", "040000", "2" * 40)]


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b'{"tree": 3}', b'{"tree": [3]}', b'{"tree": [{}]}']
)
def test_an_answer_that_is_no_tree_is_an_error_and_not_an_empty_one(body: bytes) -> None:
    with pytest.raises(Unparseable):
        github.parse_tree(body)


def test_facts_about_a_repository_are_read_and_missed() -> None:
    facts = github.parse_facts(
        b'{"full_name": "acre/docs", "default_branch": "main", "description": null, "has_wiki": true}'
    )
    assert (facts.repository, facts.description, facts.has_wiki) == ("acre/docs", "", True)
    with pytest.raises(Unparseable, match="default_branch"):
        github.parse_facts(b'{"full_name": "acre/docs"}')


# git itself


ENTRIES = [
    Entry("README.md", "100644", "1"),
    Entry("docs", "040000", "2"),
    Entry("docs/run.sh", "100755", "3"),
    Entry("docs/link.md", "120000", "4"),
    Entry("docs2/a.md", "100644", "5"),
    Entry("vendor", "160000", "6"),
]


def test_a_whole_tree_gives_its_files_and_counts_what_it_passes_over() -> None:
    folder = gather(ENTRIES)
    assert [file.path for file in folder.files] == ["README.md", "docs/run.sh", "docs2/a.md"]
    assert folder.passed_over == {"symlink": 1, "submodule": 1}
    assert not folder.folders


def test_only_what_is_within_a_path_is_taken() -> None:
    folder = gather(ENTRIES, within="docs")
    assert [file.path for file in folder.files] == ["docs/run.sh"]
    assert [file.path for file in gather(ENTRIES, within="README.md").files] == ["README.md"]


def test_a_folder_by_itself_names_the_folders_on_the_way() -> None:
    entries = [Entry("x", "040000", "7"), Entry("y", "40000", "8"), Entry("a.md", "100644", "9")]
    folder = gather(entries, below="docs", within="docs/x/deep", whole=False)
    assert folder.folders == [("docs/x", "7")]
    assert not folder.files
    assert gather(entries, below="docs", within="docs", whole=False).files == [File("docs/a.md", "9")]


@given(st.lists(st.builds(File, st.text(), st.text(), st.none() | st.integers())))
def test_a_folder_can_be_written_down_and_read_back(files: list[File]) -> None:
    folder = Folder(files=files, folders=[("a", "1")], passed_over={"symlink": 2})
    assert Folder.from_payload(json.loads(json.dumps(folder.as_payload()))) == folder


@given(st.binary())
def test_ids_are_those_of_git(body: bytes) -> None:
    assert git.blob_id(body, like="0" * 40) == hashlib.sha1(b"blob %d\0%s" % (len(body), body)).hexdigest()
    assert len(git.blob_id(body, like="0" * 64)) == 64


def test_the_id_of_no_bytes_is_the_one_everybody_knows() -> None:
    assert git.blob_id(b"", like="") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("git+https://Git.Example.org/acre/docs.git/", "git+https://git.example.org/acre/docs.git"),
        ("https://git.example.org/acre/docs.git", "git+https://git.example.org/acre/docs.git"),
        ("git@git.example.org:acre/docs.git", "git+ssh://git@git.example.org/acre/docs.git"),
        ("git+ssh://git@git.example.org:2222/acre/docs", "git+ssh://git@git.example.org:2222/acre/docs"),
        ("git+file:///srv/git/docs.git", "git+file:///srv/git/docs.git"),
        ("git://git.example.org/docs", "git+git://git.example.org/docs"),
        ("git+ext::sh -c id", None),
        ("git+https://me:secret@git.example.org/docs.git", None),
        ("git+https://token@git.example.org/docs.git", None),
        ("git+ssh://me:secret@git.example.org/docs.git", None),
        ("git+ssh://-oProxyCommand=id/docs.git", None),
        ("git+https://git.example.org/do cs.git", None),
        ("git+https://git.example.org/", None),
        ("git+file://elsewhere/srv", None),
        ("--upload-pack=id", None),
        ("", None),
    ],
)
def test_addresses_of_git_have_one_spelling_and_no_tricks(location: str, address: str | None) -> None:
    assert git.parse_address(location) == address
    if address is not None:
        assert git.parse_address(address) == address


def test_what_git_lists_is_read() -> None:
    listing = (
        b"100644 blob aaaa\tK\xc3\xa4se.md\x00160000 commit bbbb\tvendor\x00100644 blob cccc\t\xff.md\x00"
    )
    assert [(e.path, e.mode, e.id) for e in git.parse_ls_tree(listing)] == [
        ("Käse.md", "100644", "aaaa"),
        ("vendor", "160000", "bbbb"),
        ("\\xff.md", "100644", "cccc"),
    ]
    refs = git.parse_ls_remote("aaaa\tHEAD\nbbbb\trefs/tags/v1\ncccc\trefs/tags/v1^{}\nnonsense\n")
    assert refs == {"HEAD": "aaaa", "refs/tags/v1": "cccc"}


def test_pages_are_where_forges_have_them_or_where_the_source_says() -> None:
    page = git.page_of("git+https://git.example.org/acre/docs.git", None, "a b.md")
    assert page == "https://git.example.org/acre/docs/blob/HEAD/a%20b.md"
    assert git.page_of("git+ssh://git@h/d.git", "x", "a.md") == "ssh://git@h/d.git/a.md"
    link = "https://code.example.org/{branch}/{path}"
    assert git.page_of("git+ssh://git@h/d.git", "x", "a.md", link=link) == "https://code.example.org/x/a.md"
