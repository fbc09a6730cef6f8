"""A reader in another process sees one whole generation, whatever the writer does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.journeys.test_crashes import call
from tests.support.site import Site, html

PAGES = 40

READER = """
import asyncio, sys
from pathlib import Path
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.search.hit import SearchMode
from rowen.reading.search import search

async def read(path):
    store = SqliteStore(Path(path))
    stop = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    print("reading", flush=True)
    while not stop.done():
        answer = await search(store, None, "stamp", mode=SearchMode.KEYWORD, limit=100)
        words = {word for hit in answer.hits for word in hit.snippet.split()}
        stamps = sorted(word for word in words if word.startswith("edition"))
        generations = sorted({hit.generation for hit in answer.hits})
        print(len(answer.hits), ",".join(stamps), ",".join(map(str, generations)), flush=True)
    await store.close()

asyncio.run(read(sys.argv[1]))
"""


def publish(site: Site, edition: int) -> None:
    paths = [f"/{n}" for n in range(1, PAGES)]
    site.set("/", html("Home", f"stamp edition{edition} here", links=paths))
    for path in paths:
        site.set(path, html(f"Page {path}", f"stamp edition{edition} here", links=["/"]))


def test_a_reader_never_sees_two_editions_at_once(tmp_path: Path) -> None:
    db = tmp_path / "rowen.db"
    with Site() as site:
        publish(site, 1)
        call(db, "add", site.url + "/", "--name", "docs")
        call(db, "sync")
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(db)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        for edition in (2, 3, 4):
            publish(site, edition)
            assert call(db, "sync")["updated"] == PAGES
        call(db, "rollback", "docs")
        out, _ = reader.communicate("stop\n", timeout=60)
    answers = {tuple(line.split()) for line in out.splitlines()}
    assert {answer[0] for answer in answers} == {str(PAGES)}, "never a part of the pages"
    assert all("," not in stamps and "," not in generation for _, stamps, generation in answers)
    assert len({stamps for _, stamps, _ in answers}) >= 3, "the reader was there when it happened"
