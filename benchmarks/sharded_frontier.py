"""A frontier in shards over many machines, simulated: how fast, and does every host get its peace?

    python benchmarks/sharded_frontier.py

Time is simulated, so the figures are the same on every machine. A shard is a hash of the host; one worker
leases a shard and keeps a heap of its hosts by the moment each may be asked again. Workers die unannounced;
their shards go to others when the lease ends, and what was under way is asked again. docs/scale.md says what
follows from it.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import random
from collections import defaultdict
from dataclasses import dataclass, field

SHARDS = 1024
LEASE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    workers: int = 4
    hosts: int = 1000
    pages: int = 20_000
    delay_s: float = 1.0
    """Between two requests to one host."""
    fetch_s: float = 0.3
    """The mean time of an exchange; the times are spread exponentially."""
    at_a_time: int = 50
    """Exchanges one worker has under way."""
    skew: float = 1.0
    """How unequal the hosts are: 0 for all alike, 1 for Zipf."""
    deaths: int = 0
    """Workers that die on the way; each is replaced when its leases have ended."""
    seed: int = 1


@dataclass
class Outcome:
    seconds: float = 0.0
    fetched: int = 0
    again: int = 0
    """Pages asked twice because their worker died."""
    nearest_s: float = float("inf")
    """The shortest time between two requests to one host."""
    busiest_host: int = 0
    hand_overs: int = 0
    visits: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list), repr=False)

    @property
    def pages_per_s(self) -> float:
        return self.fetched / self.seconds if self.seconds else 0.0


def shard_of(host: int) -> int:
    return int.from_bytes(hashlib.sha256(str(host).encode()).digest()[:4], "big") % SHARDS


def sizes(plan: Plan) -> list[int]:
    """How many pages each host has."""
    weights = [1 / (rank + 1) ** plan.skew for rank in range(plan.hosts)]
    total = sum(weights)
    found = [max(1, int(plan.pages * weight / total)) for weight in weights]
    for number in range(max(0, plan.pages - sum(found))):
        found[number % plan.hosts] += 1
    return found


def simulate(plan: Plan) -> Outcome:
    return _Simulation(plan).run()


class _Simulation:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.chance = random.Random(plan.seed)
        self.outcome = Outcome()
        self.left = sizes(plan)
        self.outcome.busiest_host = max(self.left)
        self.wanted = sum(self.left)
        self.owner = {shard: shard % plan.workers for shard in range(SHARDS)}
        self.busy = [0] * plan.workers
        self.alive = [True] * plan.workers
        self.ready: list[list[tuple[float, int]]] = [[] for _ in range(plan.workers)]
        """Of each worker: hosts by the moment they may be asked again."""
        self.next_at: dict[int, float] = {}
        """Kept with the shard, not with the worker: the next worker knows it."""
        self.events: list[tuple[float, int, str, int, int]] = []
        self.number = 0
        self.epoch = [0] * plan.workers
        self.woken_at = [0.0] * plan.workers

    def run(self) -> Outcome:
        for host in range(self.plan.hosts):
            heapq.heappush(self.ready[self._worker_of(host)], (0.0, host))
        for death in range(self.plan.deaths):
            self._at(5.0 + 10.0 * death, "death", death % self.plan.workers, 0)
        for worker in range(self.plan.workers):
            self._at(0.0, "turn", worker, 0)
        while self.events and self.outcome.fetched < self.wanted:
            now, _, what, worker, detail = heapq.heappop(self.events)
            self.outcome.seconds = now
            if what == "turn":
                self._turn(now, worker)
            elif what == "death":
                self._death(now, worker)
            elif what == "takeover":
                self._takeover(now, worker)
            elif what == "answer":
                self._answer(now, worker, detail)
        return self.outcome

    def _turn(self, now: float, worker: int) -> None:
        """Ask every host of this worker that may be asked, as far as there is room."""
        queue = self.ready[worker]
        while self.alive[worker] and queue and self.busy[worker] < self.plan.at_a_time:
            due, host = queue[0]
            if due > now:
                if not now < self.woken_at[worker] <= due:
                    self.woken_at[worker] = due
                    self._at(due, "turn", worker, 0)
                return
            heapq.heappop(queue)
            self._ask(now, worker, host)

    def _ask(self, now: float, worker: int, host: int) -> None:
        visits = self.outcome.visits[host]
        if visits:
            self.outcome.nearest_s = min(self.outcome.nearest_s, now - visits[-1])
        visits.append(now)
        self.next_at[host] = now + self.plan.delay_s
        self.busy[worker] += 1
        taken = self.chance.expovariate(1 / self.plan.fetch_s)
        self._at(now + taken, "answer", worker, host * 1000 + self.epoch[worker])

    def _answer(self, now: float, worker: int, detail: int) -> None:
        host, epoch = divmod(detail, 1000)
        if epoch != self.epoch[worker]:
            self.outcome.again += 1
            return
        self.busy[worker] -= 1
        self.outcome.fetched += 1
        self.left[host] -= 1
        if self.left[host]:
            heapq.heappush(self.ready[worker], (max(now, self.next_at[host]), host))
        self._turn(now, worker)

    def _death(self, now: float, worker: int) -> None:
        if sum(self.alive) == 1:
            return
        self.alive[worker] = False
        self.epoch[worker] += 1
        self.busy[worker] = 0
        self.ready[worker] = []
        self._at(now + LEASE_S, "takeover", worker, 0)

    def _takeover(self, now: float, dead: int) -> None:
        """Its leases have ended: the shards go to the living, the hosts with what is left of them."""
        living = [worker for worker, lives in enumerate(self.alive) if lives]
        moved = [shard for shard, owner in self.owner.items() if owner == dead]
        for number, shard in enumerate(moved):
            self.owner[shard] = living[number % len(living)]
        self.outcome.hand_overs += len(moved)
        shards = set(moved)
        for host in range(self.plan.hosts):
            if self.left[host] and shard_of(host) in shards:
                due = max(now, self.next_at.get(host, 0.0))
                heapq.heappush(self.ready[self._worker_of(host)], (due, host))
        for worker in living:
            self._turn(now, worker)

    def _worker_of(self, host: int) -> int:
        return self.owner[shard_of(host)]

    def _at(self, when: float, what: str, worker: int, detail: int) -> None:
        self.number += 1
        heapq.heappush(self.events, (when, self.number, what, worker, detail))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    pages = parser.parse_args().pages
    print("workers  hosts  delay  skew  deaths   pages/s   hosts/delay   shortest gap")
    plans = [
        *(Plan(workers=workers, hosts=1000, skew=0.0, pages=pages) for workers in (1, 2, 4, 8, 16)),
        *(Plan(workers=8, hosts=hosts, skew=0.0, pages=pages) for hosts in (10, 100, 1000, 5000)),
        *(Plan(workers=8, delay_s=delay, skew=0.0, pages=pages) for delay in (0.2, 1.0, 5.0)),
        *(Plan(workers=8, skew=skew, pages=pages) for skew in (0.0, 0.5, 1.0)),
        *(Plan(workers=8, skew=0.0, deaths=deaths, pages=pages) for deaths in (0, 1, 4)),
    ]
    for plan in plans:
        found = simulate(plan)
        print(
            f"{plan.workers:7}  {plan.hosts:5}  {plan.delay_s:5}  {plan.skew:4}  {plan.deaths:6}"
            f"  {found.pages_per_s:8.1f}  {plan.hosts / plan.delay_s:12.0f}  {found.nearest_s:12.2f} s"
        )


if __name__ == "__main__":
    main()
