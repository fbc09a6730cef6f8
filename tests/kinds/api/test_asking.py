"""How many items to ask for at a time."""

from __future__ import annotations

from rowen.kinds.api.asking import PageSize


def test_page_sizes_halve_to_ten_and_grow_back() -> None:
    size = PageSize(1000)
    sizes = []
    while size.shrink():
        sizes.append(size.current)
    assert sizes == [500, 250, 125, 62, 31, 15, 10]
    for _ in range(3 * 7):
        size.went_well()
    assert size.current == 1000


def test_page_sizes_know_what_a_server_gives_at_most() -> None:
    size = PageSize(1000)
    assert size.shrink(received=100)
    assert size.current == 50


def test_a_small_page_size_stays_small() -> None:
    size = PageSize(5)
    assert (size.current, size.shrink()) == (5, False)
