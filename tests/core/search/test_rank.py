from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.search.hit import Place
from rowen.core.search.rank import MAX_OTHER_SECTIONS, alpha_for, fuse, group, shares, spread, title_share
from rowen.core.search.references.page_versions import PageVersion


def place(passage_id: int, document_id: int, **changes: Any) -> Place:
    values: dict[str, Any] = {
        "passage_id": passage_id,
        "document_id": document_id,
        "source": "docs",
        "version": "",
        "kind": "web",
        "reference": f"https://d.test/{document_id}",
        "url": f"https://d.test/{document_id}",
        "title": "T",
        "generation": 1,
        "fetched_at": datetime(2024, 1, 1, tzinfo=UTC),
        "position": passage_id,
        "heading_path": f"Heading {passage_id}",
        "anchor": None,
        "text": "",
    }
    return Place(**values | changes)


def together(keyword: dict[int, float], dense: dict[int, float], alpha: float) -> dict[int, float]:
    return fuse(spread(keyword), spread(dense), alpha)


SCORES = st.dictionaries(st.integers(0, 20), st.floats(-1e6, 1e6), max_size=10)


def test_both_lists_are_stretched_and_weighed() -> None:
    fused = together({1: 10.0, 2: 6.0, 3: 2.0}, {2: 0.9, 4: 0.5, 5: 0.1}, 0.3)
    assert fused == pytest.approx({1: 0.7, 2: 0.7 * 0.5 + 0.3, 3: 0.0, 4: 0.15, 5: 0.0})


def test_a_list_of_one_or_of_equals_counts_fully() -> None:
    assert together({1: 0.001}, {}, 0.3) == {1: 0.7}
    assert together({}, {1: 0.2, 2: 0.2}, 1.0) == {1: 1.0, 2: 1.0}


def test_nothing_found_is_nothing_fused() -> None:
    assert together({}, {}, 0.3) == {}


@given(SCORES, SCORES, st.floats(0, 1))
def test_fused_scores_stay_between_0_and_1_and_lose_nobody(
    keyword: dict[int, float], dense: dict[int, float], alpha: float
) -> None:
    fused = together(keyword, dense, alpha)
    assert fused.keys() == keyword.keys() | dense.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())


@given(SCORES)
def test_keywords_alone_keep_their_order(keyword: dict[int, float]) -> None:
    fused = together(keyword, {}, 0.0)
    by_score = sorted(keyword, key=keyword.__getitem__)
    assert all(fused[a] <= fused[b] for a, b in pairwise(by_score))


@pytest.mark.parametrize(
    ("query", "alpha"),
    [("install it", 0.5), ("“quoted” – 5 €", 0.5), ("installazione è", 0.3), ("検索", 0.3), ("поиск", 0.3)],
)
def test_vectors_weigh_less_where_the_query_is_not_english(query: str, alpha: float) -> None:
    assert alpha_for(0.5, query) == alpha


def test_a_weak_model_is_not_made_stronger() -> None:
    assert alpha_for(0.1, "検索") == 0.1


def test_a_document_is_one_hit_by_its_best_section_with_its_other_sections() -> None:
    places = [place(1, 100), place(2, 100), place(3, 200), place(4, 100)]
    first, second = group(places, {1: 0.2, 2: 0.9, 3: 0.5, 4: 0.4}, limit=10)
    assert (first.best.place.passage_id, first.best.score) == (2, pytest.approx(0.9 / 1.25))
    assert [(o.place.passage_id, o.score) for o in first.others] == [
        (4, pytest.approx(0.4 / 1.25)),
        (1, pytest.approx(0.2 / 1.25)),
    ]
    assert second.best.place.document_id == 200
    assert second.others == ()


def test_no_more_than_three_other_sections() -> None:
    places = [place(n, 100) for n in range(10)]
    (only,) = group(places, {n: n / 10 for n in range(10)}, limit=5)
    assert [o.place.passage_id for o in only.others] == [8, 7, 6]
    assert len(only.others) == MAX_OTHER_SECTIONS


def test_the_same_text_at_two_addresses_is_two_hits_in_a_fixed_order() -> None:
    places = [place(1, 9, url="https://d.test/b"), place(1, 8, url="https://d.test/a")]
    for order in (places, places[::-1]):
        urls = [g.best.place.url for g in group(order, {1: 1.0}, limit=10)]
        assert urls == ["https://d.test/a", "https://d.test/b"]


def test_equal_scores_stand_by_source_then_address_then_position() -> None:
    places = [
        place(1, 1, source="b", url="u1", position=0),
        place(2, 2, source="a", url="u2", position=5),
        place(3, 3, source="a", url="u1", position=7),
        place(4, 3, source="a", url="u1", position=2),
    ]
    ranked = group(places, dict.fromkeys(range(1, 5), 0.5), limit=10, per_document=False)
    assert [g.best.place.passage_id for g in ranked] == [4, 3, 2, 1]


def test_a_passage_repeated_in_its_document_is_shown_once() -> None:
    (only,) = group([place(1, 1, position=3), place(1, 1, position=0)], {1: 1.0}, limit=10)
    assert only.best.place.position == 0
    assert only.others == ()


def test_sections_can_be_hits_of_their_own() -> None:
    ranked = group([place(1, 1), place(2, 1)], {1: 0.1, 2: 0.2}, limit=10, per_document=False)
    assert [g.best.place.passage_id for g in ranked] == [2, 1]


def test_the_limit_counts_documents_and_unranked_places_do_not() -> None:
    places = [place(n, n) for n in range(5)]
    assert [g.best.place.passage_id for g in group(places, {1: 0.5, 2: 0.4, 3: 0.3}, limit=2)] == [1, 2]


def test_a_title_that_is_the_question_counts_most() -> None:
    assert title_share("json", ["json"]) == 1.0
    assert title_share("Index - J", ["json"]) == 0.0
    assert 0 < title_share("json - JSON encoder and decoder", ["json"]) < 1
    assert title_share("", ["json"]) == title_share("json", []) == 0.0


def test_documents_with_the_same_text_are_one_hit_that_names_the_others() -> None:
    twins = [place(1, document, content_id=7, position=0) for document in (3, 1, 2)]
    sections = [place(2, document, content_id=7, position=1) for document in (3, 1, 2)]
    other = place(1, 4, content_id=8, position=0)
    scores = {1: 0.9, 2: 0.5}

    one, apart = group([*sections, *twins, other], scores, 10)

    assert (one.best.place.document_id, [p.document_id for p in one.also_at]) == (1, [2, 3])
    assert [ranked.place.passage_id for ranked in one.others] == [2]
    assert (apart.best.place, apart.also_at) == (other, ()), "one passage in another text is another hit"
    assert [g.also_at[0].position for g in group([*sections, *twins], scores, 10, per_document=False)] == [
        0,
        1,
    ]
    assert len(group([*sections, *twins, other], scores, 1)) == 1


def test_the_best_title_leads_the_documents_with_the_same_text() -> None:
    twins = [place(1, 1, content_id=7, title="Print"), place(1, 2, content_id=7, title="Queue")]
    (one,) = group(twins, {1: 0.9}, 10, terms=["queue"])
    assert one.best.place.document_id == 2


def test_a_list_of_links_stays_found_and_does_not_win() -> None:
    contents, page = place(1, 100, link_share=90), place(2, 200, link_share=20)
    assert [g.best.place.document_id for g in group([contents, page], {1: 0.9, 2: 0.5}, limit=10)] == [
        200,
        100,
    ]


def test_several_sections_of_a_document_count_together() -> None:
    places = [place(1, 100), place(2, 200), place(3, 200), place(4, 200)]
    scores = {1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6}
    assert [g.best.place.document_id for g in group(places, scores, limit=10)] == [200, 100]
    alone = group(places, scores, limit=10, per_document=False)
    assert [g.best.place.passage_id for g in alone] == [1, 2, 3, 4]


def test_the_definition_of_the_name_asked_for_comes_first_whatever_mentions_it() -> None:
    defining = place(1, 100, symbol="asyncio.gather", symbol_kind="function")
    mentioning = place(2, 200)
    for scores in ({1: 0.1, 2: 0.9}, {2: 0.9}):
        found = group([defining, mentioning], scores, limit=10, query="asyncio.gather")
        assert [g.best.place.document_id for g in found] == [100, 200]
    other = group([defining, mentioning], {1: 0.1, 2: 0.9}, limit=10, query="something else")
    assert [g.best.place.document_id for g in other] == [200, 100]


def test_a_manual_that_defines_the_name_comes_before_source_code_however_well_that_fits() -> None:
    manual = place(1, 1, symbol="larder.Shelf.add", symbol_kind="method")
    code = place(2, 2, symbol="Shelf.add", symbol_kind="source method")
    calls = place(3, 3, text="shelf.add(jar)")
    for query in ("Shelf.add", "add"):
        found = group([calls, code, manual], {1: 0.1, 2: 0.9, 3: 1.0}, 5, query=query)
        assert [one.best.place for one in found] == [manual, code, calls]


def test_a_short_class_in_source_code_comes_first_for_its_members_and_after_their_own_definitions() -> None:
    whole = place(
        1, 1, symbol="shelf.Shelf", symbol_kind="source class", text="class Shelf:\n  def add(self):"
    )
    calls = place(2, 2, text="Shelf.add(jar)")
    method = place(3, 3, symbol="other.Shelf.add", symbol_kind="source method")
    found = group([calls, whole, method], {1: 0.1, 2: 0.9}, 5, query="Shelf.add")
    assert [one.best.place for one in found] == [method, whole, calls]


def test_a_function_in_source_code_does_not_come_first_because_a_question_has_its_name_as_a_word() -> None:
    code = place(1, 1, symbol="shelf.cancel", symbol_kind="source function")
    prose = place(2, 2)
    found = group(
        [code, prose], {1: 0.85, 2: 0.9}, 5, query="how do I cancel a task", terms=["cancel", "task"]
    )
    assert [one.best.place for one in found] == [prose, code]


def test_a_text_with_the_name_as_it_was_typed_is_above_texts_with_its_words() -> None:
    words, name = place(1, 1, text="The shelf of quern."), place(2, 2, text="`QUERN_shelf` counts them.")
    best = group([words, name], {1: 0.9, 2: 0.8}, 2, query="quern_shelf", terms=["quern", "shelf"])
    assert [one.best.place for one in best] == [name, words]
    best = group([words, name], {1: 0.9, 2: 0.8}, 2, query="quern shelf", terms=["quern", "shelf"])
    assert [one.best.place for one in best] == [words, name]


def test_of_a_class_and_a_function_of_one_name_the_one_that_was_asked_for_comes_first() -> None:
    places = [
        place(1, 1, symbol="asyncio.Timeout", text="class"),
        place(2, 1, symbol="asyncio.timeout", text="function"),
        place(3, 2, symbol="other.Timeout", text="class"),
    ]
    scores = {1: 0.9, 2: 0.1, 3: 0.95}
    for query, passage in (("asyncio.timeout()", 2), ("asyncio.Timeout", 1), ("timeout", 2), ("Timeout", 3)):
        assert group(places, scores, 5, query=query)[0].best.place.passage_id == passage


def test_a_definition_whose_name_is_a_word_of_the_question_comes_before_one_with_another_ending() -> None:
    places = [place(1, 1, symbol="asyncio.Task.cancelled"), place(2, 1, symbol="asyncio.Task.cancel")]
    found = group(places, {1: 0.9, 2: 0.85}, 5, query="how do I cancel a task", terms=["cancel", "task"])
    assert found[0].best.place.passage_id == 2


def test_texts_with_a_flag_are_above_all_that_only_mean_something_like_it_in_their_own_order() -> None:
    near, long, heading = (
        place(1, 1, text="Limit the pages."),
        place(2, 2, text="Set `--build-drafts` and more."),
        place(3, 3, heading_path="Options › --build-drafts"),
    )
    best = group([near, long, heading], {1: 0.95, 2: 0.2, 3: 0.9}, 3, query="--build-drafts", terms=["build"])
    assert [one.best.place for one in best] == [heading, long, near]
    assert [one.best.has_name for one in best] == [True, True, False]


def test_the_section_that_is_called_by_the_name_asked_for_is_above_those_that_mention_it() -> None:
    other, own, called = (
        place(1, 1, heading_path="Jars › jars.fill", text="If set, jars.lid() counts."),
        place(2, 1, heading_path="Jars › jars.lid", text="A lid."),
        place(3, 2, heading_path="jars.lid(tight) in use", text="jars.lid"),
    )
    best = group(
        [other, own, called],
        {1: 0.9, 2: 0.8, 3: 0.85},
        3,
        query="jars.lid",
        terms=["jars.lid"],
        per_document=False,
    )
    assert [one.best.place for one in best] == [own, other, called]


def test_a_word_with_a_hyphen_is_no_name_that_comes_before_everything() -> None:
    title, text = place(1, 1, title="Real time", text="Now."), place(2, 2, text="Not real-time.")
    best = group([title, text], {1: 0.9, 2: 0.1}, 2, query="real-time", terms=["real", "time"])
    assert [one.best.place for one in best] == [title, text]


def shown(keyword: dict[int, float], editions: dict[int, int], *places: Place, query: str = "") -> list[int]:
    """Documents in their order; those with an edition are versions of one page."""
    newest = max(editions.values(), default=0)
    versions = {one: PageVersion(7, edition, edition < newest) for one, edition in editions.items()}
    groups = group(
        places or [place(one, one) for one in keyword],
        spread(keyword),
        10,
        query=query,
        versions=versions,
        likeness=shares(keyword),
    )
    return [one.best.place.document_id for one in groups]


def test_of_the_versions_of_a_page_the_newest_stands_where_the_best_would() -> None:
    assert shown({1: 10.0, 2: 9.0, 3: 8.0, 4: 1.0}, {1: 1, 2: 2, 3: 3}) == [3, 4]
    assert shown({1: 10.0, 2: 9.9, 3: 8.0, 4: 1.0}, {1: 1, 3: 3}) == [2, 3, 4]


def test_one_old_version_that_says_much_more_is_shown_below_the_newest() -> None:
    assert shown({1: 10.0, 2: 9.0, 3: 2.0, 4: 1.0}, {1: 1, 2: 2, 3: 3}) == [3, 1, 4]


def test_an_old_version_that_stands_alone_counts_less() -> None:
    assert shown({1: 10.0, 2: 9.0, 3: 0.0}, {}) == [1, 2, 3]
    old = {1: PageVersion(7, 1, True)}
    groups = group([place(one, one) for one in (1, 2)], {1: 1.0, 2: 0.9}, 10, versions=old)
    assert [one.best.place.document_id for one in groups] == [2, 1]


def test_a_name_that_an_old_version_alone_defines_is_shown_first() -> None:
    places = place(1, 1, symbol="os.errno"), place(2, 2), place(3, 3)
    assert shown({1: 1.0, 2: 5.0, 3: 4.0}, {1: 1, 2: 2}, *places, query="os.errno") == [1, 2, 3]
    defined = place(1, 1, symbol="os.errno"), place(2, 2, symbol="os.errno")
    assert shown({1: 5.0, 2: 1.0}, {1: 1, 2: 2}, *defined, query="os.errno") == [2]
