"""How costs grow with size: CPU time at several sizes, and the exponent of the power that fits best.

    python benchmarks/exponents.py                                        up to 5,000 pages, 100,000 sections
    python benchmarks/exponents.py --pages 500 5000 50000 --sections 1000 10000 100000 1000000

An unchanged refresh may cost as much as there are pages (at most 1) and nothing for the text that is stored
(0); making a generation visible and going back to the one before cost the same in any source (0), and write
the same number of rows. Before a generation is made visible, the index of words takes in what the run has
stored: that is measured beside it, and depends on what changed, not on what is stored (0). The figures go to
`docs/performance.json`, and the page of it is written anew (`benchmarks/peers/report.py`). Exit code 1 where
an exponent is above its bound by more than the noise of the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import search as searches  # noqa: E402
from benchmarks.growth import Series  # noqa: E402
from benchmarks.peers import report  # noqa: E402
from benchmarks.peers.run import Server, served  # noqa: E402
from corpus import Corpus  # noqa: E402

from rowen.config import load  # noqa: E402
from rowen.core.search.hit import Filters, SearchMode  # noqa: E402
from rowen.engine.ports import Ports  # noqa: E402
from rowen.engine.run import sync  # noqa: E402
from rowen.managing import find as finding  # noqa: E402
from rowen.managing import sources  # noqa: E402
from rowen.reading import history  # noqa: E402
from rowen.wiring import open_ports  # noqa: E402

TIMES = 5
MOVES = 15
"""The least of so many counts: everything else a machine does can only add to it."""
BORN, DAY = 1_700_000_000, 86_400
SECTIONS = 4
"""Of a page: two thousand texts are enough for an index of words."""
FEW_PAGES, SECTIONS_A_PAGE = 300, (4, 16, 64)
LISTED = 1000
"""Pages on a page of the index: a page of more than ten thousand links leads to the first of them only."""


class TimedStore:
    """A store that notes what it costs to make a generation visible, and to index its texts before that."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.activations: list[float] = []
        self.rows: set[int] = set()
        self.indexings: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def finish_run(self, *given: Any, **named: Any) -> Any:
        before, rows = time.process_time(), self._store.rows_written()
        answer = await self._store.finish_run(*given, **named)
        self.activations.append((time.process_time() - before) * 1000)
        self.rows.add(self._store.rows_written() - rows)
        return answer

    async def index_ahead(self, *given: Any) -> Any:
        before = time.process_time()
        answer = await self._store.index_ahead(*given)
        self.indexings.append((time.process_time() - before) * 1000)
        return answer


def write_site(folder: Path, pages: int, sections: int) -> None:
    """Pages that link to their neighbours, and a first page that links to the lists of all of them."""
    folder.mkdir()
    for number in range(pages):
        parts = "".join(
            f"<h2 id='s{n}'>Section {n} of {number}</h2><p>{f'Field {number} gives crop {n}. ' * 8}</p>"
            for n in range(sections)
        )
        near = f'<a href="p{(number + 1) % pages}.html">next</a>'
        text = f"<title>Page {number}</title><main><h1>Page {number}</h1>{parts}</main>{near}"
        (folder / f"p{number}.html").write_text(text)
    lists = range(0, pages, LISTED)
    for first in lists:
        names = [f"p{number}" for number in range(first, min(first + LISTED, pages))]
        (folder / f"list{first}.html").write_text(linking(f"Pages from {first}", names))
    (folder / "index.html").write_text(linking("Index", [f"list{first}" for first in lists]))
    for file in folder.iterdir():
        os.utime(file, (BORN, BORN))


def linking(title: str, names: Sequence[str]) -> str:
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in names)
    return f"<title>{title}</title><main><ul>{links}</ul></main>"


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def edit(folder: Path, day: int) -> None:
    file = folder / "p1.html"
    file.write_text(file.read_text().replace("</main>", f"<p>Written on day {day}.</p></main>"))
    os.utime(file, (BORN + day * DAY,) * 2)


@dataclass(frozen=True)
class Costs:
    refresh_s: float
    text_bytes: int
    activation_ms: float = 0.0
    activation_rows: int = 0
    indexing_ms: float = 0.0
    rollback_ms: float = 0.0
    rollback_rows: int = 0


async def costs(base: Path, server: Server, site: Path, pages: int, *, moves: bool) -> Costs:
    config, _ = load(db=f"sqlite:///{base}/rowen.db")
    async with open_ports(config) as ports:
        settings = {"max_pages": str(pages + pages // LISTED + 10)}
        added = await sources.add(ports, server.address, name="site", settings=settings)
        first = await sync(ports, added.source)
        assert first.counters.created >= pages, first.counters
        await sync(ports, await finding.find(ports.store, "site"))
        refreshes = []
        for _ in range(TIMES):
            source = await finding.find(ports.store, "site")
            before = time.process_time()
            receipt = await sync(ports, source)
            refreshes.append(time.process_time() - before)
            assert receipt.counters.unchanged >= pages
        text = size_of(site)
        if not moves:
            return Costs(min(refreshes), text)
        return await moved(ports, site, Costs(min(refreshes), text))


async def moved(ports: Ports, site: Path, costs: Costs) -> Costs:
    """Also what it costs to make a generation of one change visible, and to go back."""
    # What searches keep of the first harvest is not a part of any activation.
    await ports.store.follow()
    watched = TimedStore(ports.store)
    rollbacks, rows = [], set()
    for day in range(1, MOVES + 1):
        edit(site, day)
        receipt = await sync(replace(ports, store=watched), await finding.find(ports.store, "site"))
        assert receipt.counters.updated == 1, receipt.counters
        source = await finding.find(ports.store, "site")
        before, written = time.process_time(), ports.store.rows_written()
        await history.rollback(ports, source)
        rollbacks.append((time.process_time() - before) * 1000)
        rows.add(ports.store.rows_written() - written)
    return replace(
        costs,
        activation_ms=min(watched.activations),
        activation_rows=max(watched.rows),
        indexing_ms=min(watched.indexings),
        rollback_ms=min(rollbacks),
        rollback_rows=max(rows),
    )


def of_sites(sizes: Sequence[int]) -> list[Series]:
    found = {size: measured(size, SECTIONS, moves=True) for size in sizes}
    pages = [
        Series("unchanged refresh", "pages", "CPU s", 1.0, sizes, [found[n].refresh_s for n in sizes]),
        Series("activation", "pages", "ms", 0.0, sizes, [found[n].activation_ms for n in sizes]),
        Series("activation", "pages", "rows", 0.0, sizes, [found[n].activation_rows for n in sizes]),
        Series(
            "words of one change indexed", "pages", "ms", 0.0, sizes, [found[n].indexing_ms for n in sizes]
        ),
        Series("rollback", "pages", "ms", 0.0, sizes, [found[n].rollback_ms for n in sizes]),
        Series("rollback", "pages", "rows", 0.0, sizes, [found[n].rollback_rows for n in sizes]),
    ]
    stored = [measured(FEW_PAGES, sections, moves=False) for sections in SECTIONS_A_PAGE]
    kilobytes = [one.text_bytes // 1000 for one in stored]
    name = f"unchanged refresh of {FEW_PAGES} pages"
    return [*pages, Series(name, "kB of text", "CPU s", 0.0, kilobytes, [one.refresh_s for one in stored])]


def measured(pages: int, sections: int, *, moves: bool) -> Costs:
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        write_site(site, pages, sections)
        with served(site) as server:
            found = asyncio.run(costs(Path(folder), server, site, pages, moves=moves))
    print(f"{pages:,} pages of {sections} sections: {found}", flush=True)
    return found


async def of_search(sizes: Sequence[int], questions: int) -> Series:
    taken = []
    for size in sizes:
        corpus = Corpus(size)
        await corpus.prepare()
        with tempfile.TemporaryDirectory() as folder:
            async with searches.sqlite(Path(folder)) as (store, fill, _):
                await searches.filled(store, fill, corpus)
                asked = corpus.questions(questions)
                times = await searches.timed(store, corpus.embedder, asked, Filters(), SearchMode.HYBRID)
        taken.append(median(times))
        print(f"{size:,} sections: {taken[-1]:.2f} ms a search", flush=True)
    return Series("hybrid search", "sections", "ms", 0.5, sizes, taken)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, nargs="*", default=[500, 5000])
    parser.add_argument("--sections", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="where the page is written")
    options = parser.parse_args()
    series = of_sites(options.pages) if options.pages else []
    if options.sections:
        series.append(asyncio.run(of_search(options.sections, options.questions)))
    print("\n".join(map(str, series)))
    kept = options.out / "performance.json"
    recorded = json.loads(kept.read_text()) if kept.exists() else {}
    recorded["exponents"] = {"series": [one.as_dict() for one in series]}
    kept.write_text(json.dumps(recorded, indent=1) + "\n")
    report.write(options.out)
    return 0 if all(one.good for one in series) else 1


if __name__ == "__main__":
    sys.exit(main())
