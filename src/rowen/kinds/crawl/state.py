"""What one crawl knows while it runs: what it was given, what it learnt, and why it must stop.

Its three parts share it: `crawl.py` (the run from start to end), `asking.py` (one page) and `verdicts.py`
(what an answer means).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.run import StopReason
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.core.web.scope import Scope
from rowen.engine.intake import Intake
from rowen.engine.learning.turns import Turn
from rowen.engine.ports import Ports
from rowen.errors import RowenError
from rowen.fetching.client import Client
from rowen.fetching.site_files import SiteFiles
from rowen.kinds.crawl.claims import PageClaims
from rowen.kinds.crawl.frontier.frontier import Frontier
from rowen.kinds.crawl.frontier.named import NamedFrontier
from rowen.kinds.crawl.judging.missing import MissingPages
from rowen.kinds.crawl.judging.twins import Twins
from rowen.kinds.crawl.judging.wrapping import Wrapping
from rowen.kinds.crawl.pages import Pages
from rowen.kinds.crawl.spread import Spread


class CrawlState:
    claims: PageClaims
    frontier: Frontier | NamedFrontier
    files: SiteFiles
    missing: MissingPages
    twins: Twins
    wrapping: Wrapping

    def __init__(
        self,
        ports: Ports,
        source: Source,
        settings: Mapping[str, Any],
        intake: Intake,
        client: Client,
        pages: Pages,
    ) -> None:
        self.ports = ports
        self.source = source
        self.settings = settings
        self.intake = intake
        self.client = client
        self.pages = pages
        self.scope = Scope.from_settings(source.location, settings)
        self.site = urls.origin_of(source.location) + "/"
        # Before the first harvest there is no visible page that could have changed.
        self.named = intake.only if source.active_generation else None
        self.turn: Turn | None = None
        """The pages that this run asks for, when a budget leaves some for later."""
        self.spread: Spread | None = None
        """Workers ask, while there is one."""
        self.urls: dict[int, str] = {}
        self.done: dict[str, str | None] = {}
        """What runs before this one did of the same round, as `Frontier.progress` says it."""

        self.stop: StopReason | None = None
        self.stop_error: RowenError | None = None
        self.root = source.location
        """The root, or where it redirects to in scope."""
        self.root_answered = False
        self.moved_to: str | None = None
        """Where the root redirects to, out of scope."""
        self.refusal_hint: str | None = None
        self.aliases: dict[str, str | None] = {}
        """Other names that were found, each with its page; None for a name that is one no more."""
        self.linked: set[str] = set()
        self.foreign: set[str] = set()
        """Addresses out of scope that were counted."""
        self.not_asked: set[str] = set()
        """Pages of `done` that count in this run with the answer they gave then."""

    @property
    def is_whole(self) -> bool:
        """Does this run ask for everything?"""
        return self.named is None and self.turn is None

    @property
    def hint(self) -> str | None:
        said = (self.refusal_hint, self.pages.hint, self.files.hint, self.claims.hint)
        return "; ".join(filter(None, said)) or None

    def stops(self, reason: StopReason, error: RowenError) -> None:
        """No further page is asked for."""
        self.stop, self.stop_error = reason, error

    def why_not(self, url: str) -> str | None:
        """Why an address is not asked for."""
        reason = self.scope.why_not(url)
        if reason is None and self.files.forbid(url):
            return "robots"
        return reason or self.pages.why_not(url)

    def may_not_be_asked(self, url: str) -> bool:
        return not url.startswith(self.site) or self.files.forbid(url)
