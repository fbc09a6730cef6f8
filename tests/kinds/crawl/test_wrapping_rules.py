"""Which blocks most pages share, and texts without them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from rowen.kinds.crawl.judging.rules import MIN_PAGES, blocks, common, keys_of, may_be_common, without

SIDEBAR = "- [Home](https://x.example/)\n- [News](https://x.example/news)"
LEGAL = "All of this is made by the orchard society."


def page(name: str, *more: str) -> str:
    return "\n\n".join((f"# {name}", SIDEBAR, f"What {name} is about, in a sentence.", *more, LEGAL)) + "\n"


def learned(*pages: str) -> set[str]:
    return common((keys_of(one) for one in pages), total=len(pages))


def many(*more: str) -> list[str]:
    return [page(f"P{number}", *more) for number in range(MIN_PAGES)]


def test_blocks_of_most_pages_are_learnt_and_taken_away() -> None:
    text = without(page("Oats"), learned(*many()))
    assert text == "# Oats\n\nWhat Oats is about, in a sentence.\n"


def test_too_few_pages_teach_nothing() -> None:
    assert learned(*many()[1:]) == set()


def test_what_fewer_pages_have_is_content() -> None:
    some, few = many(), "A warning that a few pages have."
    half = MIN_PAGES // 2
    pages = [*some[:half], *many(few)[half:]]
    text = page("Oats", few)
    assert few in without(text, learned(*pages))
    assert few not in without(text, learned(*many(few)))


def test_titles_code_labels_and_ends_of_definitions_stay() -> None:
    kept = (
        "```python\nimport orchard as o\n```",
        "Parameters:",
        "<!-- end of orchard.graft -->",
        "## graft {#graft .function}",
    )
    text = page("Oats", *kept)
    same_title = [text.replace("What Oats", f"What {number}") for number in range(MIN_PAGES)]
    for one in (*kept, "# Oats"):
        assert one in without(text, learned(*same_title))


def test_a_heading_goes_with_all_of_its_text_and_stays_with_some() -> None:
    alike = ("## See also", "The list of all orchards of the land.")
    everywhere = learned(*many(*alike))
    # The society's line stands below the heading, too, and is as common.
    assert "See also" not in without(page("Oats", *alike), everywhere)
    own = page("Oats", "## See also", "Only for Oats: a text of its own.", alike[1])
    assert "## See also" in without(own, everywhere)
    assert "Only for Oats" in without(own, everywhere)


def test_a_page_of_nothing_else_is_left_as_it_is() -> None:
    text = f"# Empty\n\n{SIDEBAR}\n\n{LEGAL}\n"
    assert without(text, learned(*many())) == text


def test_what_a_page_says_twice_is_not_taken() -> None:
    twice = page("Oats", LEGAL)
    assert without(twice, learned(*many())).count(LEGAL) == 2


def test_a_blank_line_in_code_ends_no_block() -> None:
    text = "# A\n\n~~~\nfirst\n\n# not a heading\n~~~\n\nText of some words here.\n"
    assert [text[one.start : one.end].strip() for one in blocks(text)] == [
        "# A",
        "~~~\nfirst\n\n# not a heading\n~~~",
        "Text of some words here.",
    ]


def test_text_directly_under_a_heading_is_a_block_of_its_own() -> None:
    text = "## Head\nText of a few words.\n## Next\n\n\nMore\n"
    assert [(one.level, text[one.start : one.end]) for one in blocks(text)] == [
        (2, "## Head\n"),
        (0, "Text of a few words.\n"),
        (2, "## Next\n\n\n"),
        (0, "More\n"),
    ]


LINES = st.lists(
    st.sampled_from(["# T", "## H", "```", "~~~", "", "  ", "some four words here", "b [a](x)", "c"])
)


@given(LINES)
def test_blocks_tile_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = blocks(text)
    assert "".join(text[one.start : one.end] for one in found) == text


@given(LINES, LINES)
def test_a_text_is_cut_once(lines: list[str], others: list[str]) -> None:
    text, keys = "\n".join(lines), keys_of("\n".join(others))
    once = without(text, keys)
    kept = {block.key for block in blocks(once) if block.key and not block.level}
    assert once == text or kept.isdisjoint(keys) or without(once, keys) == once


@given(
    st.lists(st.sets(st.sampled_from("abcd")), min_size=MIN_PAGES, max_size=3 * MIN_PAGES),
    st.integers(0, 3 * MIN_PAGES),
    st.integers(0, 5),
)
def test_nothing_that_most_pages_have_is_given_up_before_all_were_looked_at(
    pages: list[set[str]], looked_at: int, too_many: int
) -> None:
    some = pages[:looked_at]
    counts = Counter(key for keys in some for key in keys)
    most = len(pages) + too_many
    assert may_be_common(counts, looked_at=len(some), most=most) or not common(pages, total=len(pages))


def test_pages_that_share_nothing_are_given_up_after_the_part_that_decides() -> None:
    counts = Counter(f"own {page}" for page in range(42))
    assert may_be_common(counts, looked_at=40, most=100)
    assert not may_be_common(counts, looked_at=42, most=100)
