"""The rows of a word diff."""

from __future__ import annotations

from rowen.core.compare.sections import compare
from rowen.doors.web.diff_rows import rows

BEFORE = "# Leave\n\nEverybody has 23 days of leave.\n"


def test_blanks_beside_changed_words_stand_outside_of_the_mark() -> None:
    made, _ = rows(compare(BEFORE, BEFORE.replace("23", "25")), title="Leave", chars=10_000)
    (pair,) = [row for row in made if row["kind"] == "pair"]
    assert ("removed", "23") in pair["left"] and ("added", "25") in pair["right"]
    for side in ("left", "right"):
        assert "".join(text for _, text in pair[side]).split()[:2] == ["Everybody", "has"]
        assert all(text == text.strip() for mark, text in pair[side] if mark in ("added", "removed"))
    assert "".join(text for _, text in pair["right"]).strip() == "Everybody has 25 days of leave."


def test_a_paragraph_that_is_new_as_a_whole_has_no_mark_on_its_words() -> None:
    after = BEFORE + "\n## Carers\n\nFive days in a year.\n"
    made, _ = rows(compare(BEFORE, after), title="Leave", chars=10_000)
    (new,) = [row for row in made if row["kind"] == "pair"]
    assert new["left"] == [] and {mark for mark, _ in new["right"]} == {"equal"}
