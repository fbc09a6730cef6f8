"""How long the page takes to answer a key while a person types a question, beside a bare request.

    python benchmarks/keys.py [--questions 20] [--db sqlite:///kept.db] [--cache ~/.cache/rowen-judge]

The manual of Python in a real `rowen serve --listen`; questions of `judged/python.jsonl`, typed letter by
letter. Each key asks for what the page's script asks for, all hits with the first one in its place, and
is followed by a bare request (`/health/live`) to the same service: on a busy machine believe the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
from api import service
from judged import manuals

HERE = Path(__file__).parent
WARM_UP = 40
"""Keys before the first that counts: the processes that answer searches are started by the first ones."""


def questions(number: int) -> list[str]:
    lines = (HERE / "judged" / "python.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line)["question"] for line in lines if line.strip()]
    return [asked[index * len(asked) // number] for index in range(min(number, len(asked)))]


def keys(question: str) -> list[str]:
    """What stands in the field after each key, from the second letter on."""
    return [question[:end] for end in range(2, len(question) + 1) if question[end - 1] != " "]


async def timed(session: aiohttp.ClientSession, path: str, **params: str) -> tuple[float, int]:
    started = time.perf_counter()
    async with session.get(path, params=params, headers={"Accept": "text/html"}) as response:
        body = await response.read()
        assert response.status == 200, body[:500]
    return time.perf_counter() - started, len(body)


async def typed(url: str, asked: list[str]) -> tuple[list[float], list[float], list[int]]:
    pages, bare, sizes = [], [], []
    async with aiohttp.ClientSession(url) as session:
        for number, text in enumerate(text for question in asked for text in keys(question)):
            page_s, size = await timed(session, "/search", q=text, typing="1")
            bare_s, _ = await timed(session, "/health/live")
            if number >= WARM_UP:
                pages.append(page_s)
                bare.append(bare_s)
                sizes.append(size)
    return pages, bare, sizes


def line(name: str, taken: list[float]) -> str:
    shares = statistics.quantiles(taken, n=100)
    p50, p95, p99 = (shares[percent - 1] * 1000 for percent in (50, 95, 99))
    return f"{name:<14} p50 {p50:>6.1f} ms   p95 {p95:>6.1f} ms   p99 {p99:>6.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--db", help="a store that holds the manual already")
    parser.add_argument("--cache", default="~/.cache/rowen-judge", help="where packages are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = options.db or f"sqlite:///{folder}/rowen.db"
        if not options.db:
            manual = manuals.manual("python", Path(options.cache).expanduser())
            rowen = [sys.executable, "-m", "rowen"]
            subprocess.run([*rowen, "add", str(manual), "--name", "python", "--db", db], check=True)
            subprocess.run([*rowen, "sync", "python", "--db", db], check=True)
        with service(db) as (url, _):
            pages, bare, sizes = asyncio.run(typed(url, questions(options.questions)))
    print(line("a key", pages))
    print(line("a bare request", bare))
    within = sum(taken <= 0.1 for taken in pages) / len(pages)
    print(
        f"{len(pages):,} keys, {within:.0%} within 100 ms, pages of {statistics.median(sizes) / 1000:.0f} kB"
    )
    print(f"p50, a key / a bare request   {statistics.median(pages) / statistics.median(bare):.1f}")


if __name__ == "__main__":
    main()
