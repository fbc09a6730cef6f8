"""Pages as HTML or JSON, and the files they need. Autoescaping is always on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from starlette.responses import Response

from rowen import __version__
from rowen.doors.web import markdown, words
from rowen.doors.web.draw import bars, charts
from rowen.doors.web.visit import Bar, Page, Visit

HERE = Path(__file__).parent
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
HEADERS = {
    "Cache-Control": "no-store",
    # Other sites learn nothing; our own forms keep their `Origin`, which `no-referrer` would empty.
    "Referrer-Policy": "same-origin",
}
TABS = (
    ("sources", "/", "Sources", "read"),
    ("search", "/search", "Search", "read"),
    ("inspect", "/inspect", "Inspect", "sync"),
    ("companies", "/companies", "Companies", "read"),
    ("handoffs", "/handoffs", "Handoffs", "read"),
    ("sinks", "/sinks", "Sinks", "read"),
    ("workers", "/workers", "Workers", "read"),
    ("settings", "/settings", "Settings", "admin"),
)
"""Name, address and word of each entry of the bar, and the scope that its page needs."""
_BLANKS = re.compile(r"\n\s+")


class Assets:
    """The files of the package. Their folder is named after what is in them, so that browsers may keep
    them.
    """

    def __init__(self) -> None:
        self.files = {path.name: path.read_bytes() for path in sorted((HERE / "assets").iterdir())}
        self.tag = hashlib.sha256(b"".join(self.files.values())).hexdigest()[:12]

    def address(self, name: str) -> str:
        return f"/assets/{self.tag}/{name}"

    def response(self, name: str) -> Response | None:
        body = self.files.get(name)
        if body is None:
            return None
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(body, media_type=TYPES[Path(name).suffix], headers=headers)


class Renderer:
    def __init__(self) -> None:
        self.assets = Assets()
        self._made = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._made.filters.update(
            words.FILTERS, markdown=lambda text, terms=(): markdown.html(text, terms=terms)
        )
        self._made.globals.update(words.GLOBALS)
        self._made.globals.update(
            asset=self.assets.address, draw=bars, chart=charts, version=__version__, TABS=TABS
        )

    def template(self, name: str) -> Template:
        return self._made.get_template(name)

    def page(self, visit: Visit, page: Page, *, bar: Bar | None = None) -> Response:
        if visit.as_json:
            return Response(as_json(page.data), page.status, HEADERS, "application/json")
        body = self.html(visit, page, bar=bar).encode("utf-8", "backslashreplace")
        return Response(body, page.status, HEADERS, "text/html; charset=utf-8")

    def html(self, visit: Visit, page: Page, *, bar: Bar | None = None) -> str:
        text = self.template(f"{page.template}.html").render(
            **around(visit), **page.data, page=page, bar=bar or Bar()
        )
        # Indentation is for those who read templates; a browser gets none of it.
        return _squeezed(text)

    def part(self, visit: Visit, template: str, name: str, data: Mapping[str, Any]) -> str:
        """What a macro of a template makes of this data: a part of a page that is sent alone."""
        module = self.template(template).make_module({**around(visit)})
        return _squeezed(str(getattr(module, name)(**data)))


@cache
def renderer() -> Renderer:
    """The one of this process: each template is compiled once."""
    return Renderer()


def around(visit: Visit) -> dict[str, Any]:
    """What every template may use beside the data of its page."""
    return {
        "visit": visit,
        "now": visit.now,
        "may": visit.may,
        "ago": partial(words.age, now=visit.now),
        "at": partial(words.moment, now=visit.now),
        "pager": partial(pager, visit),
        "key": partial(Markup('<input type="hidden" name="key" value="{}">').format, visit.form_key),
    }


def pager(visit: Visit, number: int, pages: int, *, more: bool = False) -> Markup:
    """Links to the pages of a list before and after; nothing when there is one page. `more` says that there
    may be pages behind those that were counted.
    """
    if pages <= 1:
        return Markup("")
    link = Markup('<a class="btn" href="{}">{}</a>')
    before = (
        link.format(visit.address(page=number - 1 if number > 2 else None), "← Before") if number > 1 else ""
    )
    after = link.format(visit.address(page=number + 1), "Next →") if number < pages else ""
    said = Markup('<span class="soft">page {} of {}{}</span>').format(
        words.num(number), words.num(pages), " or more" if more else ""
    )
    return Markup('<p class="acts pager">{} {} {}</p>').format(before, said, after)


def _squeezed(text: str) -> str:
    """Without the indentation of the templates; text inside `pre` and `textarea` stays as it is."""
    pieces = re.split(r"(<pre\b.*?</pre>|<textarea\b.*?</textarea>)", text, flags=re.DOTALL)
    return "".join(piece if index % 2 else _BLANKS.sub("\n", piece) for index, piece in enumerate(pieces))


def as_json(data: Any) -> bytes:
    return json.dumps(data, default=_plain, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, Markup):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.hex()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not for JSON")
