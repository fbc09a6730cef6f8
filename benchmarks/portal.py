"""A portal of many datasets: what the first sync and the second cost, and whether memory stays flat.

    python benchmarks/portal.py [--datasets 50000]

The simulated portal (`tests/support/ckan_server.py`) runs in its own process and is not counted. Each size
is taken in a process of its own, so that its peak memory is its own. The floor is a bare loop of the same
HTTP client over the same pages that parses them and does nothing else. Counts are checked, times are printed
as ratios. The last line is of short records, as this benchmark had at first: no files, no tags, no extras.
What the libraries below take alone for the same rows and texts is told beside it: no first sync takes less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = 1000
CHANGED, REWORDED = 50, 10


def cpu_s(server: int = 0) -> float:
    """Of this process and of its children but the server. Those count too that have not ended, where the
    system tells it: the child that embeds ends with the store.
    """
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ended = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    lists = Path("/proc/self/task").glob("*/children")
    running = {int(one) for some in lists for one in some.read_text().split()} - {server}
    return ended + sum(map(running_cpu_s, running))


def running_cpu_s(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb() -> float:
    """Of this process alone; `ru_maxrss` would begin with the size of the process that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


WORDS = ["rain", "snow", "wind", "river", "road", "school", "budget", "health", "energy", "harvest"]


def notes(n: int) -> str:
    return " ".join(f"{WORDS[(n + k * k) % len(WORDS)]} {(n * 7 + k) % 997}" for k in range(40))


def as_ckan_answers(n: int) -> dict[str, Any]:
    """The other fields of a dataset as `package_search` has them: three files, four tags, six extras."""
    made = "2023-01-01T00:00:00.000000"
    nothing = dict.fromkeys(
        ("cache_last_updated", "cache_url", "mimetype", "mimetype_inner", "resource_type", "size", "url_type")
    )
    files = [
        {
            **nothing, "id": f"{n:08x}-0000-4000-8000-{k:012x}", "package_id": f"id-{n:06}", "created": made,
            "last_modified": made, "metadata_modified": made, "datastore_active": False, "hash": "",
            "state": "active", "position": k, "name": f"Table {k}", "format": ("CSV", "JSON", "PDF")[k],
            "description": f"The {WORDS[(n + k) % len(WORDS)]} of year {2000 + n % 25}, one row an hour",
            "url": f"https://data.example.org/dataset/{n}/resource/{k}/download/table-{n}-{k}.csv",
        }
        for k in range(3)
    ]  # fmt: skip
    tags = [
        {"id": f"t{k}", "name": tag, "display_name": tag, "state": "active", "vocabulary_id": None}
        for k, tag in enumerate(WORDS[n % 6 : n % 6 + 4])
    ]
    extras = {
        "spatial": f'{{"type": "Point", "coordinates": [{n % 180}, {n % 90}]}}', "frequency": "daily",
        "publisher_name": f"Office {n % 40}", "contact_email": "desk@example.org", "theme": "Environment",
        "harvest_object_id": f"{n:032x}",
    }  # fmt: skip
    office = {
        "id": f"{n % 40:08x}-0000-4000-8000-000000000000", "name": f"office-{n % 40}", "type": "organization",
        "title": f"Office {n % 40}", "description": "Keeps the records of its town since 1950.",
        "image_url": "https://data.example.org/logo.png", "created": made, "is_organization": True,
        "approval_status": "approved", "state": "active",
    }  # fmt: skip
    empty = dict.fromkeys(("author", "author_email", "maintainer", "maintainer_email", "url", "version"), "")
    return {
        **empty, "resources": files, "tags": tags, "organization": office, "owner_org": office["id"],
        "extras": [{"key": key, "value": value} for key, value in extras.items()], "isopen": True,
        "num_resources": 3, "num_tags": 4, "private": False, "creator_user_id": office["id"],
        "relationships_as_object": [], "relationships_as_subject": [],
        "license_url": "https://creativecommons.org/licenses/by/4.0/",
    }  # fmt: skip


def serve(number: int, *, whole: bool) -> None:
    """A portal; each line on standard input changes some of its datasets."""
    sys.path.insert(0, str(ROOT))
    from tests.support.ckan_server import CkanServer, a_dataset

    rows = (a_dataset(n, notes=notes(n), **(as_ckan_answers(n) if whole else {})) for n in range(number))
    with CkanServer(rows) as portal:
        print(portal.url, flush=True)
        for _ in sys.stdin:
            now = datetime.now(UTC)  # noqa: TID251
            for n in range(CHANGED):
                change = {"notes": f"Reworded {n}."} if n < REWORDED else {"license_id": "cc-zero"}
                portal.edit(f"id-{n:06}", modified=now, **change)
            print("changed", flush=True)


async def bare_loop(url: str, number: int, server: int = 0) -> float:
    import aiohttp
    import orjson

    before = cpu_s(server)
    async with aiohttp.ClientSession() as session:
        for start in range(0, number, PAGE):
            params = {"sort": "id asc", "rows": str(PAGE), "start": str(start)}
            async with session.get(f"{url}/api/3/action/package_search", params=params) as response:
                orjson.loads(await response.read())
    return cpu_s(server) - before


def libraries_alone(store: Path) -> dict[str, float]:
    """In a process of its own, which needs more memory than a sync."""
    command = [sys.executable, str(Path(__file__).with_name("libraries.py")), str(store), "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    alone: dict[str, float] = json.loads(done.stdout)
    return alone


async def measure(url: str, number: int, server: subprocess.Popen[str]) -> dict[str, float]:
    from rowen.config import load
    from rowen.engine.run import sync
    from rowen.managing import find as finding
    from rowen.managing import sources
    from rowen.wiring import open_ports

    found: dict[str, float] = {"floor_s": await bare_loop(url, number, server.pid)}
    with tempfile.TemporaryDirectory() as folder:
        config, _ = load(db=f"sqlite:///{folder}/rowen.db")
        async with open_ports(config) as ports:
            added = await sources.add(ports, url, name="portal", kind="ckan")
            before, began = cpu_s(server.pid), time.monotonic()
            receipt = await sync(ports, added.source)
            found["first_s"], found["first_wall_s"] = cpu_s(server.pid) - before, time.monotonic() - began
            assert receipt.counters.created == number, receipt
            for library, seconds in libraries_alone(Path(folder) / "rowen.db").items():
                found[f"{library}_s"] = seconds
            print("change", file=server.stdin, flush=True)
            assert server.stdout
            server.stdout.readline()
            before = cpu_s(server.pid)
            receipt = await sync(ports, await finding.find(ports.store, "portal"))
            found["second_s"] = cpu_s(server.pid) - before
            counters = receipt.counters
            assert (counters.updated, counters.embeddings_computed) == (REWORDED, REWORDED), receipt
            assert counters.metadata_updated == CHANGED - REWORDED, receipt
            assert counters.requests <= 3, receipt
            found["second_requests"] = counters.requests
            before = cpu_s(server.pid)
            receipt = await sync(ports, await finding.find(ports.store, "portal"), full=True)
            found["full_s"] = cpu_s(server.pid) - before
            assert receipt.counters.unchanged == number, receipt
    found["peak_mb"] = peak_mb()
    return found


def in_own_process(number: int, *options: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(number), *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(number: int, *, short: bool) -> None:
    command = [sys.executable, __file__, "--serve", str(number), *(["--short"] if short else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        url = server.stdout.readline().strip()
        found = asyncio.run(measure(url, number, server))
        server.stdin.close()
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=int, default=50_000)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--short", action="store_true", help="records of 0.9 kB in place of 3.7 kB")
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, whole=not options.short)
        return
    if options.measure is not None:
        measured(options.measure, short=options.short)
        return
    large, small = options.datasets, max(PAGE, options.datasets // 10)
    short = ["--short"] if options.short else []
    few, many = in_own_process(small, *short), in_own_process(large, *short)
    rows = [("", small, few), ("", large, many)]
    if not options.short:
        rows.append((" (short records)", small, in_own_process(small, "--short")))
    for what, number, found in rows:
        print(
            f"{number:>7} datasets{what}  first {number / found['first_s']:,.0f} per CPU s "
            f"({found['first_s'] / found['floor_s']:.0f} x downloading and parsing alone), "
            f"full again {found['full_s'] / found['floor_s']:.1f} x of that, "
            f"second {found['second_s'] / found['first_s']:.4f} x of it "
            f"in {found['second_requests']:.0f} request, peak {found['peak_mb']:.0f} MB"
        )
        alone = {name: found[f"{name}_s"] for name in ("SQLite", "index of words", "model")}
        least = found["floor_s"] + sum(alone.values())
        print(
            f"        the libraries alone: {least / found['floor_s']:.1f} x downloading and parsing, with "
            + ", ".join(f"{name} {seconds / number * 1e6:.0f} µs" for name, seconds in alone.items())
            + " a dataset (benchmarks/libraries.py)"
        )
    print(
        f"{large // small} x the datasets: {many['first_s'] / few['first_s']:.1f} x the CPU, "
        f"{many['peak_mb'] / few['peak_mb']:.2f} x the peak memory"
    )


if __name__ == "__main__":
    main()
