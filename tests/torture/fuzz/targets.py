"""What is fed with inputs: each takes one and may answer with an error of ours, and with nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from rowen import config
from rowen.adapters.convert.worker import convert
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.search.hit import SearchMode
from rowen.core.split import passages, split
from rowen.core.web import json_body, urls
from rowen.core.web.retry_after import retry_after_s
from rowen.doors.cli import main
from rowen.errors import RowenError
from rowen.fetching import robots, sitemap
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.llms import rules as llms
from rowen.managing.registry import rules as registry
from rowen.reading.search import search
from tests.contract.helpers import NOW, a_generation, a_source
from tests.support.fakes import FakeEmbedder
from tests.support.stores import a_sqlite_store
from tests.torture.fuzz.mutation import mutated, text

GOLDEN = Path(__file__).parents[2] / "golden"
Feed = Callable[[random.Random], None]
HTML = [path.read_bytes() for path in sorted(GOLDEN.glob("*/input.html"))]
MARKDOWN = [path.read_bytes() for path in sorted(GOLDEN.glob("*/expected.md"))]
OTHERS = {
    path.suffix if path.suffix != ".sample" else "".join(path.suffixes[-2:-1]): path.read_bytes()
    for path in sorted(GOLDEN.glob("*/input.*"))
    if path.suffix not in (".html", ".pdf", ".docx", ".pptx", ".xlsx")
}
ROBOTS = [
    b"User-agent: *\nDisallow: /private\nAllow: /private/a$\nCrawl-delay: 2\nSitemap: /sitemap.xml\n",
    b"user-agent: a\nuser-agent: b\ndisallow: /*?sid=*\n\nUser-Agent: rowen\nDisallow:\n",
]
SITEMAPS = [
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/'
    b"</loc><lastmod>2024-01-01</lastmod></url></urlset>",
    b"<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>",
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>',
    b"https://a.example/1\nhttps://a.example/2\n",
]
URLS = [
    b"https://user:secret@example.org:8443/a/b;c?q=1&utm_source=x#frag",
    b"http://[::1]:80/%7Eme/../x/./y?a=b&a=c",
    "https://münchen.example/straße?ü=ß".encode(),
    b"//evil.example/%2e%2e/",
    b"javascript:alert(1)",
    b"http://0x7f.1/",
]
DATASET = {
    "id": "a",
    "name": "a",
    "title": {"en": "A"},
    "notes": "text",
    "metadata_modified": "2024-01-01T00:00:00",
    "tags": [{"name": "x"}],
    "resources": [{"url": "http://a.example/f", "format": "CSV"}],
    "extras": [{"key": "k", "value": 1}],
    "organization": {"title": "O"},
    "state": "active",
}
PORTAL = [
    json.dumps({"success": True, "result": {"count": 2, "results": [DATASET, DATASET]}}).encode(),
    b'{"success": false, "error": {"message": "no", "__type": "Authorization Error"}}',
    b'{"success": true, "result": ["a", "b"]}',
]
QUERIES = [
    b'how to "install" it AND run*',
    b"NEAR(a b, 3) OR -c",
    b"column:word ^x",
    "wie läuft 漢字 das".encode(),
]
ARGUMENTS = [
    b"add https://example.invalid/ --name docs --set max_pages=3 --version 1.0",
    b"search plum --source docs --limit 3 --mode keyword --json",
    b"diff docs --from 1 --to 2 --json",
    b"runs docs --json",
    b"rollback docs --to 3",
    b"handoffs docs --status failed --json",
    b"token add reader --scope read",
    b"config show --json",
    b"remove docs --yes",
    b"export docs --to /dev/null",
    b"status --json",
    b"approve docs",
    b"pause docs",
    b"vacuum",
    b"db version --json",
]
NOT_CALLED = {
    "serve",
    "worker",
    "mcp",
    "demo",
    "sync",
    "apply",
    "doctor",
    "embed",
    "announce",
    "watch",
    "web",
}
"""They wait, or reach out into the world."""
SETTINGS = [
    b'[store]\nurl = "sqlite:///x.db"\n[fetch]\ntimeout_s = 10\nretries = 3\nuser_agent = "x"\n',
    b"[breaker]\nfailure_threshold = 5\n[history]\nkeep_generations = 3\n[runs]\nmax_parallel = 2\n",
]
REGISTRY = [
    b'[[sources]]\nname = "docs"\nlocation = "https://example.org/"\nevery = "1h"\nmax_pages = 3\n',
    b'[defaults]\nevery = "2d"\n[[sinks]]\nname = "x"\n[[sources]]\nname = "a"\nlocation = "https://a.example/"\n',
]


def html(chance: random.Random) -> None:
    _split(convert(mutated(chance, HTML), content_type="text/html", url="https://a.example/").text)


def markdown(chance: random.Random) -> None:
    _split(
        convert(mutated(chance, MARKDOWN), content_type="text/markdown", url="https://a.example/a.md").text
    )


def other_formats(chance: random.Random) -> None:
    ending = chance.choice(sorted(OTHERS))
    body = mutated(chance, [OTHERS[ending]])
    _split(convert(body, content_type="application/octet-stream", url=f"https://a.example/a{ending}").text)


def _split(found: str) -> None:
    sections = split(found)
    passages(sections)
    assert all(0 <= one.start <= one.end <= len(found) for one in sections)


def robots_txt(chance: random.Random) -> None:
    rules = robots.from_answer(200, mutated(chance, ROBOTS))
    url = urls.normalise(text(chance, URLS)[:200], "https://a.example/")
    if rules is not None and url is not None:
        rules.allows(url, "rowen")


def sitemaps(chance: random.Random) -> None:
    for url in sitemap.parse(mutated(chance, SITEMAPS), base="https://a.example/").urls:
        assert isinstance(url, str)


def addresses(chance: random.Random) -> None:
    url = text(chance, URLS)[:5000]
    found = urls.normalise(url, "https://base.example/a/")
    if found is not None:
        assert urls.normalise(found) == found, found
        assert urlsplit(urls.without_credentials(found)).password is None
    retry_after_s({"retry-after": url[:50]}, NOW)


def portal_answers(chance: random.Random) -> None:
    body = mutated(chance, PORTAL)
    result = ckan.result_of(200, body, "https://a.example/")
    for reading in (ckan.page_of, ckan.names_of, ckan.row_of):
        with contextlib.suppress(RowenError):
            reading(result, "https://a.example/")
    for row in ckan.page_of(result, "https://a.example/").rows:
        ckan.dataset_of(row, portal="https://a.example", language="en", template="")


def json_bodies(chance: random.Random) -> None:
    with contextlib.suppress(ValueError):  # what it raises on purpose
        json_body.read(mutated(chance, PORTAL))


def llms_txt(chance: random.Random) -> None:
    body = text(chance, MARKDOWN)
    llms.parse(body, "https://a.example/llms.txt")
    llms.parts(body, "https://a.example/llms-full.txt")


def settings(chance: random.Random) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(mutated(chance, SETTINGS))
        config.load(environment={"ROWEN_CONFIG": file.name})


def registries(chance: random.Random) -> None:
    registry.read(text(chance, REGISTRY), file="rowen.toml")


class Questions:
    """Queries to a store that has something in it."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        folder = tempfile.mkdtemp(prefix="rowen-fuzz-")
        self._store: SqliteStore = a_sqlite_store(Path(folder) / "rowen.db")
        self._runner.run(self._fill())

    async def _fill(self) -> None:
        source = await a_source(self._store)
        pages = {f"https://docs.example/{n}": f"# Page {n}\n\nplum and 漢字 {n}\n" for n in range(20)}
        await a_generation(self._store, source, pages)

    def __call__(self, chance: random.Random) -> None:
        query = text(chance, QUERIES)[:3000]
        mode = chance.choice(list(SearchMode))
        self._runner.run(
            search(self._store, FakeEmbedder(), query, mode=mode, limit=chance.choice((1, 5, 50)))
        )


class Commands:
    """Command lines, on a store of their own."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="rowen-fuzz-")

    def __call__(self, chance: random.Random) -> None:
        words = shlex.split(chance.choice(ARGUMENTS).decode())
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(words) + 1)
            spare = text(chance, [*URLS, *QUERIES, *ARGUMENTS])[:60].replace("\0", "")
            words[at : at + chance.randrange(2)] = [
                chance.choice((spare, "--json", "--help", "", "-1", "--db"))
            ]
        if NOT_CALLED & set(words):
            return
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main([*words, "--db", f"sqlite:///{self._folder}/rowen.db"])
        assert code in (0, 1, 2), (words, code)
        assert "Traceback" not in said.getvalue(), (words, said.getvalue())


TARGETS: dict[str, Callable[[], Feed]] = {
    "HTML": lambda: html,
    "Markdown": lambda: markdown,
    "other formats": lambda: other_formats,
    "robots.txt": lambda: robots_txt,
    "sitemaps": lambda: sitemaps,
    "addresses": lambda: addresses,
    "portal answers": lambda: portal_answers,
    "JSON": lambda: json_bodies,
    "llms.txt": lambda: llms_txt,
    "settings": lambda: settings,
    "registries": lambda: registries,
    "queries": Questions,
    "command lines": Commands,
}
