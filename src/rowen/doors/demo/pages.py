"""The demo's site: fragments of HTML in `site/`, put into a page with navigation and a footer.

As on many real sites, the navigation shows a page's neighbours and the footer says in which build its section
was made. So one new page changes the bytes of all its neighbours and the text of none, and Rowen has to see
through that.
"""

from __future__ import annotations

import re
from html import escape
from importlib import resources
from typing import NamedTuple

PARAGRAPH = "The first retry comes after 2 seconds"
"""Where the paragraph begins that `second_season` edits."""

EDITED = """<p>The first retry comes after 5 seconds, and every further one waits twice as long as the one
before, up to ten minutes. A random part of up to a fifth is added, so that jobs which failed together do not
come back together; set <code>--no-jitter</code> when a test needs exact times. To let a worker finish its
jobs before you stop it, <a href="/operations/drain.html">drain it</a>.</p>"""

ADDED = "operations/drain.html"
REMOVED = "operations/upgrade-from-1.html"


class Fragment(NamedTuple):
    title: str
    body: str


class DemoSite:
    """Pages by path. `second_season` is what happens to them between the two harvests."""

    def __init__(self) -> None:
        folder = resources.files(__package__) / "site"
        self._fragments: dict[str, Fragment] = {}
        for section in ("", "guide", "operations", "reference"):
            for file in sorted((folder / section).iterdir(), key=lambda one: one.name):
                if file.name.endswith(".html"):
                    path = f"{section}/{file.name}".lstrip("/")
                    self._fragments[path] = _fragment(file.read_text("utf-8"))
        self._later = self._fragments.pop(ADDED)
        self._builds = {"": 1181, "guide": 1181, "operations": 1181, "reference": 1181}

    def __len__(self) -> int:
        return len(self._fragments)

    def second_season(self) -> list[str]:
        """Edit a paragraph, add a page, remove a page; answers with what was done."""
        retries = self._fragments["guide/retries.html"]
        edited, times = re.subn(rf"<p>{PARAGRAPH}.*?</p>", EDITED, retries.body, flags=re.DOTALL)
        assert times == 1
        self._fragments["guide/retries.html"] = Fragment(retries.title, edited)
        self._fragments[ADDED] = self._later
        del self._fragments[REMOVED]
        self._builds["operations"] += 6
        return [
            "edited one paragraph of /guide/retries.html",
            f"added /{ADDED}, linked from that paragraph",
            f"removed /{REMOVED}",
        ]

    def page(self, path: str) -> str | None:
        """The whole page at a path, None when there is none."""
        name = path.lstrip("/") or "index.html"
        fragment = self._fragments.get(name)
        if fragment is None:
            return None
        section = name.rpartition("/")[0]
        neighbours = [one for one in self._fragments if one.rpartition("/")[0] == section] if section else []
        links = [("/", "Home"), ("/guide/install.html", "Guide"), ("/operations/deploy.html", "Operations")]
        links += [("/reference/cli.html", "Reference")]
        links += [(f"/{one}", self._fragments[one].title) for one in neighbours]
        menu = "".join(f'<li><a href="{href}">{escape(text)}</a></li>' for href, text in links)
        return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(fragment.title)} - Quern</title></head>
<body>
<nav aria-label="Main"><ul>{menu}</ul></nav>
<main>
{fragment.body}
</main>
<footer><p>Quern 2.4 documentation, build {self._builds[section]}</p></footer>
</body>
</html>
"""


def _fragment(text: str) -> Fragment:
    title = re.search(r"<h1[^>]*>(.*?)</h1>", text)
    assert title is not None
    return Fragment(title[1], text.strip())
