"""Rowen indexes its own documentation and answers questions about itself from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen import Rowen
from tests.support.doc_blocks import ROOT

QUESTIONS = {
    "how do I run it as a systemd service": {"operations/systemd.md"},
    "how do I make a backup of the store": {"operations/backup.md"},
    "how can I go back to an older state of a source": {"tutorial.md", "explanation/generations.md"},
    "how do I connect Claude or Cursor": {"mcp.md"},
    "how do I sync a source when somebody pushes to GitHub": {"webhooks.md", "how-to/github.md"},
    "what does a page cost that has not changed": {"explanation/skipping.md"},
    "how do I mirror a site that needs JavaScript": {"how-to/web.md"},
    "how do I add workers on other machines": {"postgresql.md"},
    "which setting limits how many pages are fetched": {"reference/sources.md"},
    "it says the store was made by a newer Rowen": {"operations/upgrade.md", "operations/troubleshooting.md"},
    "where do I put passwords and tokens for a private site": {"how-to/web.md"},
    "how is it different from Scrapy or LangChain": {"explanation/comparison.md"},
}
"""Each question with the pages that answer it."""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int | None]:
    """Where the first page that answers each question stands among the hits."""
    folder = tmp_path_factory.mktemp("self")
    docs = ROOT / "docs"
    with Rowen(db=f"sqlite:///{folder}/rowen.db") as rowen:
        rowen.add(str(docs), name="rowen")
        receipt = rowen.sync("rowen")
        assert receipt.counters.created >= len(list(docs.rglob("*.md")))
        assert receipt.counters.failed == 0
        return {
            question: next(
                (
                    number
                    for number, hit in enumerate(rowen.search(question).hits, 1)
                    if _page(hit.url, docs) in answers
                ),
                None,
            )
            for question, answers in QUESTIONS.items()
        }


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_page_that_answers_is_among_the_first_three_hits(
    question: str, ranks: dict[str, int | None]
) -> None:
    rank = ranks[question]
    assert rank is not None
    assert rank <= 3


def test_most_questions_are_answered_by_the_first_hit(ranks: dict[str, int | None]) -> None:
    assert sum(rank == 1 for rank in ranks.values()) >= 8


def test_every_question_is_answered_by_pages_that_exist() -> None:
    assert all((ROOT / "docs" / page).exists() for pages in QUESTIONS.values() for page in pages)


def _page(url: str, docs: Path) -> str:
    return url.partition("#")[0].removeprefix(f"{docs.as_uri()}/")
