"""What the store promises about pages, sources and tests, and about translations of a page."""

from __future__ import annotations

import pytest

from rowen.ports.store.store import Store
from rowen.reading.search import search
from tests.contract.helpers import a_generation, a_source

pytestmark = pytest.mark.anyio

OTHERS = {f"filler/{number}.md": f"sowing by number {number}" for number in range(30)}


async def found(store: Store, query: str) -> list[str]:
    return [hit.url for hit in (await search(store, None, query, limit=20)).hits]


async def with_pages(store: Store, pages: dict[str, str]) -> None:
    await a_generation(store, await a_source(store, kind="files"), OTHERS | pages)


async def test_a_page_comes_before_the_source_and_the_source_before_its_test(store: Store) -> None:
    pages = {path: f"barley {path}" for path in ("a/tests/a.py", "b/src/a.py", "c/docs/a.md")}
    await with_pages(store, pages)
    assert await found(store, "barley") == ["c/docs/a.md", "b/src/a.py", "a/tests/a.py"]


async def test_a_page_of_a_site_comes_before_the_source_that_the_site_shows_of_it(store: Store) -> None:
    site = "https://e.example/"
    pages = {f"{site}_sources/a.rst.txt": "barley rye", f"{site}b.html": "barley oat"}
    await a_generation(
        store, await a_source(store), {site + path: text for path, text in OTHERS.items()} | pages
    )
    assert await found(store, "barley") == [f"{site}b.html", f"{site}_sources/a.rst.txt"]


async def test_a_question_about_tests_finds_them_beside_sources(store: Store) -> None:
    await with_pages(store, {"tests/a.py": "test of barley, a test", "src/a.py": "barley"})
    assert (await found(store, "test barley"))[0] == "tests/a.py"


@pytest.mark.parametrize(
    ("question", "language"),
    [("how is barley sown", "en"), ("wie wird barley gesät", "de"), ("barley 播种", "zh"), ("barley", "en")],
)
async def test_a_question_is_answered_by_pages_in_its_language(
    store: Store, question: str, language: str
) -> None:
    pages = {
        f"content/{folder}/grain/{number}.md": f"barley {number} {folder[:2]}"
        for folder in ("en", "de", "zh-cn", "fr")
        for number in range(3)
    }
    await with_pages(store, pages)
    first = (await found(store, question))[:3]
    assert [path.split("/")[1].partition("-")[0] for path in first] == [language] * 3


async def test_pages_without_a_language_are_the_original_of_those_with_one(store: Store) -> None:
    pages = {f"docs/{number}.md": f"barley {number} rye" for number in range(3)}
    pages |= {f"docs/de/{number}.md": f"barley {number} Roggen" for number in range(3)}
    await with_pages(store, pages)
    assert {path.count("/") for path in (await found(store, "barley"))[:3]} == {1}
    assert {path.count("/") for path in (await found(store, "was ist barley und wie"))[:3]} == {2}


async def test_a_folder_called_like_a_language_that_translates_nothing_counts_in_full(store: Store) -> None:
    pages = {f"docs/is/{number}.md": f"barley barley {number}" for number in range(3)}
    await with_pages(store, pages | {f"docs/{name}.md": f"barley {name}" for name in ("a", "b", "c")})
    assert {path.count("/") for path in (await found(store, "barley"))[:3]} == {2}


@pytest.mark.parametrize(("first", "second"), [("hr/press.md", "sales/press.md"), ("user-id.md", "user.md")])
async def test_teams_and_topics_called_like_languages_are_no_translations(
    store: Store, first: str, second: str
) -> None:
    pages = {f"{folder}README.md": f"About {folder}" for folder in ("", "hr/", "sales/")}
    await with_pages(store, pages | {first: "barley one", second: "barley two"})
    assert await found(store, "barley") == [first, second], "equal scores stand in the order of addresses"


async def test_a_page_comes_before_the_one_that_holds_all_pages(store: Store) -> None:
    sections = {f"jar{number}": f"## Jar {number}\n\nbarley {number}\n" for number in range(8)}
    await with_pages(
        store, {"all.md": "\n".join(sections.values())} | {f"b/{n}.md": t for n, t in sections.items()}
    )
    assert (await found(store, "barley 3"))[:2] == ["b/jar3.md", "all.md"]


async def test_a_long_page_that_has_versions_and_copies_is_no_collection(store: Store) -> None:
    jars = "\n\n".join(f"## Jar {number}\n\nbarley {number}" for number in range(8))
    long = {"docs/1.0/a.md": jars, "docs/2.0/a.md": f"{jars}\n\n## Jar\n\nrye", "docs/2.0/b/a.md": jars}
    await with_pages(store, {"docs/2.0/z.md": "## Jar\n\nrye"} | long)
    other = await a_source(store, "other", kind="files")
    await a_generation(store, other, OTHERS | {"a.md": jars})
    assert await found(store, "rye") == ["docs/2.0/a.md", "docs/2.0/z.md"], "equal: by their addresses"
