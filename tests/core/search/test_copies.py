"""Which datasets are the same: by what they share, and not by what many share."""

from __future__ import annotations

from itertools import count, permutations
from typing import Any

import pytest

from rowen.core.search.copies import FILE_KEYS, Dataset, Sign, Signs, copies, keys_of, sign_of

NUMBERS = count(1)
LONG = "Hourly values of nitrogen dioxide, ozone and fine dust, measured by the stations of the city. " * 3
UUID = "6d2a1b56-1f0e-4c57-9f5c-9d6a3c0e7f11"


def a_dataset(source: int, *, title: str = "Air quality", text: str = "", **signs: Any) -> Dataset:
    number = next(NUMBERS)
    keys = frozenset(keys_of(Signs(**signs), title, f"# {title}\n\n{text}\n"))
    files = sum(sign_of(key) is Sign.FILE for key in keys)
    return Dataset(
        number, source, f"s{source}", "", f"https://s{source}.example/{number}", title, keys, files
    )


def are_same(*datasets: Dataset) -> str:
    first, second, *_ = datasets
    found = {one.dataset.document_id: one.by for one in copies([first.document_id], datasets).get(
        first.document_id, ()
    )}  # fmt: skip
    return found.get(second.document_id, "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (UUID, f"urn:uuid:{UUID.upper()}"),
        ("10.5281/zenodo.123", "https://doi.org/10.5281/ZENODO.123"),
        ("urn:x-odp:air", "URN:X-ODP:AIR"),
        ("http://data.city.example/id/air-7", "https://www.data.city.example/id/air-7/"),
    ],
)
def test_an_identifier_for_the_whole_world_tells_it_in_any_spelling(one: str, other: str) -> None:
    assert are_same(a_dataset(1, identifiers=[one]), a_dataset(2, title="Luft", identifiers=[other])) == (
        "identifier"
    )


def test_an_identifier_that_is_the_page_is_only_a_page() -> None:
    page = "https://city.example/topics/air"
    one, other = (
        a_dataset(source, title=title, identifiers=[page], pages=[page])
        for source, title in ((1, "Air quality"), (2, "Noise"))
    )
    assert are_same(one, other) == ""


def test_one_weak_sign_does_not_tell_it_and_two_do() -> None:
    page, file, local = "https://city.example/air", "https://city.example/air.csv", "CITY-2020-17"
    assert (
        are_same(a_dataset(1, title="Air 2020", pages=[page]), a_dataset(2, title="Air 2021", pages=[page]))
        == ""
    )
    assert are_same(a_dataset(1, title="Air", files=[file]), a_dataset(2, title="Noise", files=[file])) == ""
    assert are_same(a_dataset(1, identifiers=[local]), a_dataset(2, identifiers=[local])) == ""
    assert are_same(a_dataset(1, text=LONG), a_dataset(2, text=LONG)) == ""
    assert are_same(a_dataset(1), a_dataset(2)) == ""
    assert are_same(a_dataset(1, pages=[page]), a_dataset(2, title="AIR - quality", pages=[page])) == "page"
    assert are_same(a_dataset(1, files=[file]), a_dataset(2, files=[file])) == "files"
    for also in ({"pages": [page]}, {"files": [file]}, {"identifiers": [local]}):
        assert are_same(a_dataset(1, text=LONG, **also), a_dataset(2, text=LONG, **also)) == "text"
    by = {"text": LONG, "publisher": "The City"}
    assert are_same(a_dataset(1, **by), a_dataset(2, **by)) == "text"
    assert are_same(a_dataset(1, **by), a_dataset(2, **{**by, "publisher": "Another city"})) == ""


@pytest.mark.parametrize(
    "generic",
    [
        "https://city.example/",
        "https://city.example",
        "https://city.example/dataset",
        "https://city.example/docs/terms-of-use.pdf",
        "https://city.example/Nutzungsbedingungen.pdf",
        "https://creativecommons.org/publicdomain/zero/1.0/",
        "ftp://city.example/air.csv",
    ],
)
def test_a_home_page_and_terms_of_use_tell_nothing(generic: str) -> None:
    for sign in ("pages", "files"):
        assert are_same(a_dataset(1, **{sign: [generic]}), a_dataset(2, **{sign: [generic]})) == ""


def test_what_two_datasets_of_one_source_share_tells_neither() -> None:
    page = "https://city.example/air"
    one, other, third = (a_dataset(source, pages=[page]) for source in (1, 2, 2))
    assert are_same(one, other) == "page"
    assert are_same(one, other, third) == ""


def test_less_than_most_of_the_files_is_too_little() -> None:
    def files(*names: str) -> list[str]:
        return [f"https://city.example/{name}" for name in names]

    shared = a_dataset(1, files=files("readme.pdf", "a.csv"))
    assert are_same(shared, a_dataset(2, files=files("readme.pdf", "b.csv"))) == ""
    assert are_same(shared, a_dataset(2, files=files("a.csv", "readme.pdf"))) == "files"
    # A file that another dataset of the source has too counts on neither side.
    sibling = a_dataset(2, title="Noise", files=files("readme.pdf", "n.csv"))
    assert are_same(shared, a_dataset(2, files=files("a.csv", "readme.pdf")), sibling) == "files"
    assert are_same(shared, a_dataset(2, files=files("b.csv", "readme.pdf")), sibling) == ""


def test_copies_with_many_files_choose_the_same_ones_to_compare() -> None:
    many = [f"https://city.example/{number}.csv" for number in range(500)]
    one, other = a_dataset(1, files=many), a_dataset(2, files=list(reversed(many)))
    assert one.keys == other.keys
    assert sum(sign_of(key) is Sign.FILE for key in one.keys) == FILE_KEYS
    assert are_same(one, other) == "files"


def test_a_copy_of_a_copy_belongs_to_the_group_but_one_dataset_of_a_source_only() -> None:
    page, other_id = "https://city.example/air", "10.1234/air"
    origin = a_dataset(1, pages=[page])
    middle = a_dataset(2, pages=[page], identifiers=[other_id])
    last = a_dataset(3, title="Luft", identifiers=[other_id])
    again = a_dataset(1, title="Air, again", identifiers=[other_id])
    for order in permutations((origin, middle, last)):
        found = copies([one.document_id for one in order], order)
        assert all(len(group) == 2 for group in found.values())
    found = copies([origin.document_id], (origin, middle, last, again))
    assert [one.dataset for one in found[origin.document_id]] == [middle, last]


def test_keys_are_the_same_whatever_the_order_and_fit_the_databases() -> None:
    signs = {"identifiers": [UUID, "CITY-17-2020"], "pages": ["https://a.example/x"], "publisher": "City"}
    keys = keys_of(Signs(**signs, files=["https://a.example/1.csv", "https://a.example/2.csv"]), "T", LONG)
    turned = keys_of(Signs(**signs, files=["https://a.example/2.csv", "https://a.example/1.csv"]), "T", LONG)
    assert keys == turned == tuple(sorted(set(keys)))
    assert all(-(2**63) <= key < 2**63 for key in keys)
    assert {sign_of(key) for key in keys} == set(Sign)
    assert keys_of(Signs(), "", "") == ()
