"""How far an item travels: the source files, the jumps between them and the kinds of value on its way.

    python scripts/measure_path.py [CHECKOUT] [--files] [--json] [--pages 2]

A site of two pages, the root and one it links to, is added and synced with `Rowen`, which stays open, in a
fresh SQLite store. Then two runs are traced: `edited`, in which the linked page has a new sentence and the
root answers 304, and `304`, in which both pages answer 304. The site has no robots.txt and no sitemap: the
first sync is told so, and neither traced run asks for them.

Traced are the functions of `src/rowen` that begin or go on; class bodies and modules are left out. A
coroutine goes on each time what it waited for is there, so it counts once more for each wait.

    files         source files of which a function ran
    jumps         two functions that ran one after the other lie in different files
    calls         a function was called or resumed directly by one of another file
    dataclasses   dataclasses of which an instance was made; the same for named tuples

These are figures of the event loop's thread, where the order of things is always the same. The lines "all
threads" add what the store and the embedder do in threads of their own. Parsing happens in a child process
and is not seen. A pool may or may not start one more thread meanwhile: of three rounds the least counts.
With more `--pages` several are asked for at a time, and the jumps vary a little from call to call.

An issue said 51 files, 462 jumps and 24 dataclasses (edited) and 39, 335 and 14 (304) of commit 5a88c98, not
how they were counted. The definition of a jump, the two pages and the pause before a body (without it, 458
jumps) were chosen from several because they give these figures there.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import is_dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from measure_site import Site

ROUNDS = 3
ROWS = {
    "files": "files",
    "jumps": "jumps between files",
    "calls": "calls between files",
    "dataclasses": "kinds of dataclass",
    "named_tuples": "kinds of named tuple",
    "files_all_threads": "files, all threads",
    "calls_all_threads": "calls between files, all threads",
    "dataclasses_all_threads": "kinds of dataclass, all threads",
}
Step = tuple[bool, str, str]
"""On the main thread, the file of the caller, the file of the function."""


class Tracer:
    """A profile function that keeps the steps taken between `begin` and `end`."""

    def __init__(self, source: Path) -> None:
        self._start = f"{source / 'rowen'}{os.sep}"
        self._main = threading.get_ident()
        self._on = False
        self.steps: list[Step] = []
        self.dataclasses: list[tuple[bool, str]] = []
        self.named_tuples: list[tuple[bool, str]] = []

    def begin(self) -> None:
        self._on = True
        sys.setprofile(self)

    def end(self) -> None:
        sys.setprofile(None)
        self._on = False

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call" or not self._on:
            return
        code, main = frame.f_code, threading.get_ident() == self._main
        if code.co_name == "__init__":
            self._made(main, type(frame.f_locals.get("self")))
        elif code.co_name == "<lambda>" and code.co_varnames[:1] == ("_cls",):
            self._named(main, frame.f_locals["_cls"])
        is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
        if is_function and code.co_filename.startswith(self._start):
            caller = frame.f_back.f_code.co_filename if frame.f_back else ""
            self.steps.append((main, self._short(caller), self._short(code.co_filename)))

    def _made(self, main: bool, cls: type) -> None:
        if is_dataclass(cls) and cls.__module__.startswith("rowen."):
            self.dataclasses.append((main, f"{cls.__module__}.{cls.__qualname__}"))

    def _named(self, main: bool, cls: type) -> None:
        if cls.__module__.startswith("rowen."):
            self.named_tuples.append((main, f"{cls.__module__}.{cls.__qualname__}"))

    def _short(self, path: str) -> str:
        """The path inside `src/rowen`, empty for any other file."""
        return path.removeprefix(self._start) if path.startswith(self._start) else ""

    def figures(self) -> dict[str, Any]:
        loop = [step for step in self.steps if step[0]]
        return {
            "files": len({file for _, _, file in loop}),
            "jumps": sum(before[2] != after[2] for before, after in pairwise(loop)),
            "calls": _calls(loop),
            "dataclasses": len({name for main, name in self.dataclasses if main}),
            "named_tuples": len({name for main, name in self.named_tuples if main}),
            "files_all_threads": len({file for _, _, file in self.steps}),
            "calls_all_threads": _calls(self.steps),
            "dataclasses_all_threads": len({name for _, name in self.dataclasses}),
        }

    def names(self) -> dict[str, list[str]]:
        return {
            "files": sorted({file for main, _, file in self.steps if main}),
            "files_all_threads": sorted({file for _, _, file in self.steps}),
            "dataclasses": sorted({name for main, name in self.dataclasses if main}),
            "named_tuples": sorted({name for main, name in self.named_tuples if main}),
        }


def _calls(steps: list[Step]) -> int:
    return sum(caller not in ("", file) for _, caller, file in steps)


def one_round(source: Path, pages: int) -> dict[str, Tracer]:
    from rowen import Rowen

    tracers = {"edited": Tracer(source), "304": Tracer(source)}

    def watch(frame: FrameType, event: str, arg: object) -> None:
        for tracer in tracers.values():
            tracer(frame, event, arg)

    with tempfile.TemporaryDirectory() as folder, Site(pages=pages) as site:
        # The store's threads begin when it is opened, and only a thread that begins later is watched.
        threading.setprofile(watch)
        with Rowen(db=f"sqlite:///{folder}/rowen.db") as rowen:
            rowen.add(site.url, name="site")
            rowen.sync("site")
            site.edit()
            edited = _traced(tracers["edited"], lambda: rowen.sync("site"))
            assert (edited.counters.updated, edited.counters.not_modified) == (1, pages - 1), edited
            same = _traced(tracers["304"], lambda: rowen.sync("site"))
            assert (same.counters.updated, same.counters.not_modified) == (0, pages), same
        threading.setprofile(None)
    return tracers


def _traced(tracer: Tracer, work: Callable[[], Any]) -> Any:
    tracer.begin()
    try:
        return work()
    finally:
        tracer.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).resolve().parents[1])
    parser.add_argument("--pages", type=int, default=2, help="pages of the site, at least 2")
    parser.add_argument("--files", action="store_true", help="also the names behind the figures")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    source = options.checkout.resolve() / "src"
    sys.path.insert(0, str(source))
    # The parser's child process is to come from the same checkout, and settings of this shell are not ours.
    os.environ["PYTHONPATH"] = str(source)  # noqa: TID251
    for name in [name for name in os.environ if name.startswith("ROWEN_")]:  # noqa: TID251
        del os.environ[name]  # noqa: TID251
    rounds = [one_round(source, options.pages) for _ in range(ROUNDS)]
    report: dict[str, dict[str, Any]] = {}
    for run in ("edited", "304"):
        figures = [tracers[run].figures() for tracers in rounds]
        report[run] = {key: min(one[key] for one in figures) for key in ROWS}
    least = min(rounds, key=lambda tracers: len(tracers["edited"].steps))
    names = {run: tracer.names() for run, tracer in least.items()}
    if options.json:
        print(json.dumps(report | ({"names": names} if options.files else {}), indent=2))
        return
    print(f"{'':<34}{'edited':>8}{'304':>8}")
    for key, title in ROWS.items():
        print(f"{title:<34}{report['edited'][key]:>8}{report['304'][key]:>8}")
    for run, lists in names.items() if options.files else ():
        for what, found in lists.items():
            print(f"\n{run}: {what.replace('_', ' ')}", *found, sep="\n  ")


if __name__ == "__main__":
    main()
