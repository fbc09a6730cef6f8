"""What the store promises about search: visible places only, and filters that keep what fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.adapters.store.shared.search.finder import Finder
from rowen.core.search.as_of import AsOf
from rowen.core.search.hit import Filters
from rowen.ports.store.search import SearchRequest
from rowen.ports.store.store import Store
from rowen.reading.search import search
from tests.contract.helpers import LATER, MODEL, NOW, a_draft, a_generation, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"


def asking(*terms: str, vector: bytes | None = None, **filters: object) -> SearchRequest:
    return SearchRequest(
        terms=terms,
        vector=vector,
        model=MODEL if vector else None,
        filters=Filters(**filters),  # type: ignore[arg-type]
    )


async def found(store: Store, request: SearchRequest) -> list[str]:
    return sorted({place.reference for place in (await store.search_snapshot(request)).places})


async def test_words_are_found_in_what_is_visible_only(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "# A\n\nbarley", B: "# B\n\noats"})
    await a_generation(store, source, {A: "# A\n\nrye"})
    assert await found(store, asking("barley")) == []
    assert await found(store, asking("rye")) == [A]
    await store.activate(source.id, first.generation, now=LATER)
    assert await found(store, asking("barley")) == [A]
    assert await found(store, asking("rye")) == []


async def test_nothing_of_a_staged_generation_is_found(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, [a_draft(A, "barley")], now=NOW))
    assert await found(store, asking("barley")) == []
    assert await found(store, asking(vector=bytes([1, 1, 2, 3]))) == []


async def test_a_filter_reads_deeper_until_enough_fits(store: Store) -> None:
    crowd, rare = await a_source(store, "crowd"), await a_source(store, "rare")
    await a_generation(store, crowd, {f"https://crowd.example/{n}": f"barley barley {n}" for n in range(300)})
    await a_generation(store, rare, {A: "a long text that mentions barley once among many other words"})
    request = replace(asking("barley", source_ids=frozenset({rare.id})), depth=5)
    assert await found(store, request) == [A]
    request = replace(asking(vector=bytes([1, 1, 2, 3]), source_ids=frozenset({rare.id})), depth=5)
    assert await found(store, request) == [A]


async def test_metadata_filters_match_single_values_and_members_of_lists(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    drafts = [
        replace(a_draft(A, "barley one"), metadata={"organization": "city", "tags": ["water", "air"]}),
        replace(a_draft(B, "barley two"), metadata={"organization": "state", "tags": ["air"], "year": 2024}),
    ]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert await found(store, asking("barley", metadata={"tags": "water"})) == [A]
    assert await found(store, asking("barley", metadata={"tags": "air"})) == [A, B]
    assert await found(store, asking("barley", metadata={"organization": "state", "tags": "air"})) == [B]
    assert await found(store, asking("barley", metadata={"year": "2024"})) == [B]
    assert await found(store, asking("barley", metadata={'x") or 1=1 --': "y"})) == []


async def test_a_language_filters_by_what_documents_say_of_theirs(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    said: list[dict[str, object]] = [
        {"languages": ["de", "pt-br"]},
        {"lang": "de_CH"},
        {"language": "en"},
        {},
    ]
    names = [f"https://docs.example/{number}" for number in range(4)]
    drafts = [
        replace(a_draft(name, f"barley {name}"), metadata=metadata)
        for name, metadata in zip(names, said, strict=True)
    ]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    wanted = {"de": [0, 1], "de-ch": [1], "pt": [0], "en": [2], "e": [], "d_": []}
    for language, numbers in wanted.items():
        assert await found(store, asking("barley", language=language)) == [names[one] for one in numbers]
    ids = {page.reference: page.document_id for page in (await store.known(source.id)).values()}
    about = (await store.about(list(ids.values()), proven=False)).documents
    assert {ids[name]: about[ids[name]].language for name in names} == dict(
        zip((ids[name] for name in names), (None, "de-ch", "en", None), strict=True)
    )
    assert not any(one.proof for one in about.values())
    proofs = await store.proofs(list(ids.values()))
    proven = (await store.about(list(ids.values()), proven=True)).documents
    assert {document: one.proof for document, one in proven.items()} == proofs
    assert await store.about([], proven=True) == ({}, {})


async def test_texts_are_read_with_their_places_or_after_them(store: Store) -> None:
    lease, run = await a_run(store, await a_source(store))
    drafts = [a_draft("https://docs.example/a", "barley and rye")]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    (whole,) = (await store.search_snapshot(asking("barley"))).places
    (place,) = (await store.search_snapshot(replace(asking("barley"), texts=False))).places
    assert (place.text, place._replace(text=whole.text)) == ("", whole)
    gone = place._replace(passage_id=10**6, content_id=10**6)
    about = await store.about([place.document_id], [place, gone], proven=False)
    assert about.texts == {place.passage_id: whole.text}, "what was removed since is left out"


async def test_kinds_and_times_filter(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "barley"})
    assert await found(store, asking("barley", kinds=frozenset({"web"}))) == [A]
    assert await found(store, asking("barley", kinds=frozenset({"files"}))) == []
    assert await found(store, asking("barley", since=NOW)) == [A]
    assert await found(store, asking("barley", since=LATER)) == []


async def test_places_of_one_text_share_its_content(store: Store) -> None:
    one, two = await a_source(store, "one"), await a_source(store, "two")
    await a_generation(store, one, {A: "# Barley\n\nbarley", B: "# Barley\n\nbarley and oats"})
    await a_generation(store, two, {B: "# Barley\n\nbarley"})
    places = (await store.search_snapshot(asking("barley"))).places
    contents = {(place.source, place.reference): place.content_id for place in places}
    assert contents["one", A] == contents["two", B] != contents["one", B]


async def test_what_a_visible_section_defines_is_found_by_its_words(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    text = "# Tasks\n\n## `TaskGroup.create_task()` {#aio.TaskGroup.create_task .method}\n\nStarts one.\n"
    await a_generation(store, source, {A: text})
    await a_generation(store, other, {B: text})
    request = replace(asking(source_ids=frozenset({source.id})), names=["createtask"])
    (place,) = (await store.search_snapshot(request)).places
    assert (place.reference, place.anchor) == (A, "aio.TaskGroup.create_task")
    assert (place.symbol, place.symbol_kind) == ("aio.TaskGroup.create_task", "method")
    assert await store.symbol_words(shortest=9, longest=11) == ["createtask"]
    assert await store.symbol_words(shortest=11, longest=20) == []
    await a_generation(store, source, {A: "# Tasks\n\nNothing.\n"})
    assert not (await store.search_snapshot(request)).places


async def test_a_name_that_a_text_has_is_not_taken_for_a_slip_of_a_defined_one(store: Store) -> None:
    source = await a_source(store)
    text = "# Roles\n\n## `encrypted` {#role.encrypted .option}\n\nOld.\n"
    await a_generation(store, source, {A: text, B: "# Ciphers\n\nCall encrypt_iv with a start value.\n"})
    answer = await search(store, None, "encrypt_iv")
    assert answer.corrected is None
    assert B in {hit.url for hit in answer.hits}
    assert (await search(store, None, "encryptd")).corrected == "encrypted"


MEADOW = "# Meadows\n\nA scythe needs an experienced hand and a whetstone.\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("which hand for a sycthe", "which hand for a scythe"),
        ("Whetstne for the hand", "whetstone for the hand"),
        ("an experinced hend", "an experienced hend"),
        ("experiensed scyhte", "experienced scythe"),
        ("exprieced hand", "experienced hand"),
    ],
)
async def test_mistyped_words_of_a_question_are_repaired_and_it_says_so(
    store: Store, typed: str, meant: str
) -> None:
    await a_generation(store, await a_source(store), {A: MEADOW, B: "# Stables\n\nOats for the horse.\n"})
    answer = await search(store, None, typed)
    assert (answer.query, answer.corrected) == (typed, meant)
    assert answer.hits[0].url == A
    assert answer.hits == (await search(store, None, meant)).hits


SETTINGS = {
    f"https://docs.example/{name}": f"# Settings\n\n`{name}` says how long a session may wait.\n"
    for name in (
        "idle_in_transaction_session_timeout",
        "idle_session_timeout",
        "os.path.join",
        "lock_timeout",
    )
} | {A: "# Words\n\n" + "A translation, a transition, to translate, in transition to a lack of time.\n" * 3}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("idle_in_transation_session_timeout", "idle_in_transaction_session_timeout"),
        ("how to set idle_in_transation_sesion_timeout", "how to set idle_in_transaction_session_timeout"),
        ("what is os.path.jion", "what is os.path.join"),
        ("lack_timeout and transitoin", "lock_timeout and transition"),
    ],
)
async def test_a_mistyped_name_is_repaired_as_a_whole_before_its_words_are(
    store: Store, typed: str, meant: str
) -> None:
    await a_generation(store, await a_source(store), SETTINGS)
    answer = await search(store, None, typed)
    assert answer.corrected == meant
    assert answer.hits == (await search(store, None, meant)).hits


@pytest.mark.parametrize("typed", ["lock_timeout", "os.path", "session_lock", "python3.8_dir", "docs 3.8"])
async def test_names_that_are_written_or_unlike_any_other_are_left_as_they_are(
    store: Store, typed: str
) -> None:
    pages = {
        A: "# Words\n\nThe session holds a lock in docs 3.9.\n",
        B: "# Folders\n\nA python3.9_dir for 8.\n",
    }
    await a_generation(store, await a_source(store), SETTINGS | pages)
    assert (await search(store, None, typed)).corrected is None


async def test_another_form_of_a_german_word_is_found_by_and_not_told_as_a_slip(store: Store) -> None:
    text = "# Archiv\n\nDas Dokument liegt in der Ablage und nicht auf dem Tisch.\n"
    await a_generation(store, await a_source(store), {A: text, B: "# Stables\n\nOats.\n"})
    answer = await search(store, None, "Ablage von Dokumenten in der Kiste")
    assert (answer.corrected, answer.hits[0].url) == (None, A)
    assert "Dokument" in {answer.hits[0].snippet[start:end] for start, end in answer.hits[0].matches}
    answer = await search(store, None, "Ablage von Dokumment in der Kiste")
    assert answer.corrected == "Ablage von dokument in der Kiste"


@pytest.mark.parametrize(
    "typed", ["a scythe by hand", '"sycthe" in hand', "hand -sycthe", "sythe oak", "tractor"]
)
async def test_words_that_are_written_quoted_short_or_unlike_any_other_are_left_as_they_are(
    store: Store, typed: str
) -> None:
    text = "# Meadows\n\nA scythe by hand, a sythe of old, oats and a tracker.\n"
    await a_generation(store, await a_source(store), {A: text})
    assert (await search(store, None, typed)).corrected is None


async def test_a_word_is_repaired_by_what_readers_see_or_saw_then(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: MEADOW})
    await a_generation(store, source, {A: "# Meadows\n\nThey are mown by machines now.\n"})
    assert (await search(store, None, "hand and whetstne")).corrected is None
    then = AsOf(at=None, sources=(), generations={source.id: 1})
    assert (await search(store, None, "hand and whetstne", as_of=then)).corrected == "hand and whetstone"


async def test_a_place_says_how_much_of_it_is_links(store: Store) -> None:
    source = await a_source(store)
    await a_generation(
        store, source, {A: "# A\n\n- [barley](https://a.example/)\n- [rye](https://b.example/)\n"}
    )
    (place,) = (await store.search_snapshot(asking("barley"))).places
    assert place.link_share > 80
    assert place.text == "- barley\n- rye"


async def test_a_word_that_is_being_typed_is_found_by_its_beginning(store: Store) -> None:
    source = await a_source(store)
    pages = {A: "# Configuration\n\nConfiguring the field.", B: "# Oats\n\nOats by convention."}
    # A word that half of the texts have tells nothing.
    pages |= {f"https://docs.example/{n}": f"# Page {n}\n\nNothing of it." for n in range(5)}
    await a_generation(store, source, pages)

    async def urls(typed: str, *, prefix: bool = True) -> list[str]:
        return [hit.url for hit in (await search(store, None, typed, prefix=prefix)).hits]

    assert await urls("conf", prefix=False) == []
    for typed in ("conf", "configura", "configuration", "field conf"):
        assert await urls(typed) == [A], typed
    assert sorted(await urls("con")) == [A, B]
    assert (await urls("oats con"))[0] == B
    assert await urls("zzz") == []


async def test_what_is_being_typed_is_found_by_the_database_as_well(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Finder, "keyword", lambda *_, **__: None)
    await a_generation(
        store, await a_source(store), {A: "# Configuration\n\nIt's one.", B: "# Oats\n\nOats."}
    )
    assert [hit.url for hit in (await search(store, None, "conf", prefix=True)).hits] == [A]
    assert [hit.url for hit in (await search(store, None, 'oats "', prefix=True)).hits] == [B]
