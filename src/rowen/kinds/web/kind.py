"""The `web` kind: a documentation site, crawled by its links and sitemaps.

With `render`, pages go through a browser before they are converted; without it, pages that look empty until
their scripts have run are counted, and the run says so.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from rowen.core.params import switch, what
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Sample
from rowen.engine.ports import Ports
from rowen.fetching import credentials
from rowen.kinds.crawl.crawl import crawl
from rowen.kinds.crawl.sample import sample as sampled
from rowen.kinds.crawl.settings import covers, crawl_params
from rowen.kinds.web.pages import WebPages
from rowen.kinds.web.prepare import guess, prepare

PARAMS = (
    *crawl_params(scope="subpages", max_depth=None),
    what("sitemap", True, "Also find pages in sitemaps", switch),
    what(
        "render",
        False,
        "Let a browser run each changed page's scripts first; needs `rowen[render]` and Chromium",
        switch,
    ),
    *credentials.PARAMS,
)


def harvest(
    ports: Ports, source: Source, settings: Mapping[str, Any], intake: Intake
) -> Coroutine[Any, Any, Harvested]:
    return crawl(ports, source, settings, intake, WebPages(ports, intake.counters))


def sample(ports: Ports, source: Source, settings: Mapping[str, Any]) -> Coroutine[Any, Any, Sample]:
    """Pages are read as they come, also where a harvest would render them."""
    return sampled(ports, source, settings, WebPages(ports, Counters()))


def claims(ports: Ports, location: str) -> bool:
    """It is asked last, and takes what no other kind claims."""
    return True


KIND = Kind(
    name="web",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    guess=guess,
    covers=covers,
    sample=sample,
    asks_named=True,
    harvest=harvest,
)
