"""`/search`: hits, the chosen one in place, why it ranked, and what it says when there is nothing."""

from __future__ import annotations

import pytest

from tests.doors.web.conftest import Person

pytestmark = pytest.mark.anyio


async def test_a_question_is_answered_with_hits_and_the_first_one_in_place(reader: Person) -> None:
    page = await reader.get("/search?q=rye")
    assert page.status == 200
    assert "<mark>rye</mark>" in page.text and "Why it is first" in page.words
    assert 'class="here"' in page.text
