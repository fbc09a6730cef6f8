"""What robots.txt asks of us."""

from __future__ import annotations

import pytest

from rowen.fetching import robots
from rowen.fetching.robots import Robots

RULES = """
User-agent: rowen
Disallow: /private/
Allow: /private/open
Crawl-delay: 2.5

User-agent: *
Disallow: /*.pdf$
Crawl-delay: 9

Sitemap: https://e.org/a.xml
Sitemap: https://e.org/b.xml
"""


def test_rules_of_the_named_agent_win() -> None:
    rules = Robots.parse(RULES)
    assert not rules.allows("https://e.org/private/a", "rowen")
    assert rules.allows("https://e.org/private/open", "rowen")
    assert rules.allows("https://e.org/a.pdf", "rowen")
    assert not rules.allows("https://e.org/a.pdf", "other")
    assert rules.crawl_delay_s("rowen") == 2.5
    assert rules.crawl_delay_s("other") == 9.0
    assert rules.sitemaps == ("https://e.org/a.xml", "https://e.org/b.xml")


@pytest.mark.parametrize(
    "text", ["", "User-agent: *\nDisallow:\n", "# Disallow: /\n", "<!DOCTYPE html><p>disallow", "Allow: /"]
)
def test_a_file_without_prohibitions_costs_no_matching(text: str) -> None:
    rules = Robots.parse(text)
    assert rules._rules is None
    assert rules.allows("https://e.org/a", "rowen")
    assert rules.crawl_delay_s("rowen") is None


def test_a_file_with_sitemaps_only_allows_everything() -> None:
    rules = Robots.parse("Site-map: https://e.org/s.xml")
    assert rules.sitemaps == ("https://e.org/s.xml",)
    assert rules.allows("https://e.org/a", "rowen")


def test_misspelled_prohibitions_count() -> None:
    assert not Robots.parse("user-agent: *\n dissallow : /a").allows("https://e.org/a", "rowen")
    assert not Robots.parse("user-agent: *\rDISALLOW /a").allows("https://e.org/a", "rowen")


@pytest.mark.parametrize("delay", ["inf", "nan", "-1", "soon"])
def test_a_senseless_delay_is_no_delay(delay: str) -> None:
    assert Robots.parse(f"User-agent: *\nCrawl-delay: {delay}").crawl_delay_s("rowen") is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 301])
def test_a_missing_or_forbidden_file_allows_all(status: int) -> None:
    answer = robots.from_answer(status, b"User-agent: *\nDisallow: /")
    assert answer is not None
    assert answer.allows("https://e.org/a", "rowen")


@pytest.mark.parametrize("status", [None, 429, 500, 503])
def test_a_failing_server_says_nothing(status: int | None) -> None:
    assert robots.from_answer(status, b"") is None


def test_a_found_file_is_read_up_to_half_a_megabyte() -> None:
    head = b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n"
    filler = b"# " + b"x" * 98 + b"\n"
    body = head + filler * 6000 + b"Disallow: /b\n"
    answer = robots.from_answer(200, body)
    assert answer is not None
    assert not answer.allows("https://e.org/a", "rowen")
    assert answer.allows("https://e.org/b", "rowen")
    assert len(answer.text) <= robots.MAX_BYTES
