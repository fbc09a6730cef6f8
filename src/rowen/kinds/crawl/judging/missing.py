"""What a site answers for an address that cannot exist, and which pages are no more than that.

Some sites answer 200 with an error page for every unknown address. One address beside the first page that has
to be judged is asked for, once a run, and only in runs that find a new or changed page. A page with the same
text, but for the address and the time in it, is missing. An answer that is different each time proves
nothing, and neither does one that cannot be had.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from rowen.core import hashing
from rowen.core.document import Known
from rowen.core.rules.pattern import are_alike, patterns_of
from rowen.errors import PermanentError, TransientError
from rowen.fetching.client import STOPS
from rowen.fetching.redirects import MAX_REDIRECTS, target_of
from rowen.kinds.crawl.pages import ReadPage
from rowen.kinds.crawl.visits import Visit
from rowen.ports.fetcher import Response

SOFT_404 = "soft_404"
REMEMBERED = "rowen:missing"
"""The remembered listing of what the site answered last time."""
SAYS = "says what the site says at an address that does not exist"

Ask = Callable[[Visit], Awaitable[tuple[Response, ReadPage | None]]]
Marks = tuple[str, ...]
"""The hashes of a text's patterns."""


class MissingPages:
    def __init__(
        self,
        ask: Ask,
        forbidden: Callable[[str], bool],
        *,
        location: str,
        remembered: Any | None,
        may_ask: bool,
    ) -> None:
        """`remembered` is what an earlier run learnt: a page that says it still is missing without a request.

        With `may_ask` False that must do.
        """
        self._ask = ask
        self._forbidden = forbidden
        self._location = location
        self._gate = asyncio.Lock()
        self._answer: Marks | None = tuple(remembered["marks"]) if remembered else None
        self._text = bytes.fromhex(remembered["text"]) if remembered else b""
        self._asked = not may_ask
        self._root: tuple[Marks, bytes] | None = None

    def root_says(self, url: str, text: str) -> None:
        self._root = (_marks(text, url), hashing.of_text(text))

    @property
    def payload(self) -> dict[str, Any] | None:
        """What to remember of it; None when nothing was learnt."""
        return {"marks": list(self._answer), "text": self._text.hex()} if self._answer else None

    async def has(self, visit: Visit, text: str, *, root: Known | None) -> bool:
        """Is this page missing? `root` is the root's visible version, for a root that did not change.

        A site that says the same at its root says nothing about missing pages: it has one text for all (a
        maintenance page, or scripts that draw everything). Known pages are left to the guard then.
        """
        before = self._answer
        if not self._says(visit.url, text):
            async with self._gate:
                if not self._asked:
                    self._asked = True
                    await self._learn(visit.url)
            if self._answer is before or not self._says(visit.url, text):
                return False
        return visit.known is None or not visit.known.document_id or not self._is_root(root)

    def _is_root(self, root: Known | None) -> bool:
        if self._root is None:
            return root is not None and root.content_hash == self._text
        marks, text = self._root
        return text == self._text or self._is_answer(marks)

    def _says(self, url: str, text: str) -> bool:
        # The patterns of a long page take as long as its conversion: most sites answer 404, and need none.
        return self._answer is not None and self._is_answer(_marks(text, url))

    def _is_answer(self, marks: Marks) -> bool:
        return self._answer is not None and are_alike(self._answer, marks)

    async def _learn(self, beside: str) -> None:
        url = _cannot_exist(beside, self._location)
        for _ in range(MAX_REDIRECTS + 1):
            if self._forbidden(url):
                return
            try:
                response, page = await self._ask(Visit(0, url, 1, None))
            except STOPS:
                raise
            except (TransientError, PermanentError):
                return
            if page is not None and page.converted.text.strip():
                self._answer = _marks(page.converted.text, url)
                self._text = hashing.of_text(page.converted.text)
            target = target_of(response, url)
            if target is None or target == url:
                return
            url = target


def _cannot_exist(beside: str, location: str) -> str:
    """An address in the same folder, with the same ending; the same one in every run, for caches."""
    folder, _, name = beside.partition("?")[0].rpartition("/")
    _, dot, ending = name.rpartition(".")
    return f"{folder}/rowen-{hashing.of_text(location).hex()[:12]}-is-no-page{dot}{ending if dot else ''}"


def _marks(text: str, url: str) -> Marks:
    return tuple(hashing.of_text(pattern).hex() for pattern in patterns_of(text, url))
