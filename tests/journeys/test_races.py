"""Two processes that want the same lease, a thousand times: never two owners."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RACER = """
import asyncio, os, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from rowen.adapters.store.sqlite.store import SqliteStore

folder, owner, wins = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
now = datetime(2026, 1, 1, tzinfo=UTC)


async def main() -> None:
    store = SqliteStore(folder / "rowen.db", busy_timeout_s=60)
    witness = folder / "owned"
    won = 0
    while won < wins:
        lease = await store.acquire_lease("race", owner, now=now, ttl_s=60)
        if lease is None:
            continue
        # Only one may hold this file: it can be made once.
        os.close(os.open(witness, os.O_CREAT | os.O_EXCL))
        print(lease.token)
        witness.unlink()
        won += 1
        await store.release_lease(lease)
    await store.close()


asyncio.run(main())
"""
WINS = 500


def test_two_processes_racing_for_a_lease_a_thousand_times_are_never_two_owners(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), owner, str(WINS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for owner in ("one", "other")
    ]
    tokens: list[int] = []
    for racer in racers:
        out, err = racer.communicate(timeout=120)
        assert racer.returncode == 0, err
        tokens += map(int, out.split())
    assert sorted(tokens) == list(range(1, 2 * WINS + 1))
