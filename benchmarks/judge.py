"""How well search answers judged questions, beside what it did before.

    python benchmarks/judge.py                       the demo's site and every manual that can be had here
    python benchmarks/judge.py --set demo            the part that needs nothing from outside
    python benchmarks/judge.py --store postgres
    python benchmarks/judge.py --write-baseline      what is measured becomes what the next run is held to
    python benchmarks/judge.py --fit                 the weights of core/search/likelihood.py

Exit code 1 when a figure falls more than the tolerance below `judged/baseline.json`. Kept stores (`--keep`)
are not harvested again: after a change of a converter, leave it out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from judged import judging, manuals
from judged.fit import Recorder, report
from judged.judging import BASELINE, MODES, OFF_TOPIC, Figures, Outcome, Question

HEADINGS = ("s@1", "s@3", "mrr", "ndcg", "anchor")
Kinds = dict[str, Figures]


@contextmanager
def stores(options: argparse.Namespace) -> Iterator[Any]:
    """The address of an empty or kept store for each set."""
    if options.store == "postgres":
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from tests.support.postgres import own_server

        with own_server() as (server, _), server.connect() as db:

            def database(name: str) -> str:
                db.execute(f'CREATE DATABASE "{name}"'.encode())
                return server.url_of("postgres", database=name)

            yield database
    else:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(options.keep or temporary)
            folder.mkdir(parents=True, exist_ok=True)
            yield lambda name: f"sqlite:///{folder.resolve() / name}.db"


def located(name: str, options: argparse.Namespace) -> AbstractContextManager[str]:
    given = options.manual.get(name)
    return nullcontext(given) if given else manuals.located(name, Path(options.cache))


async def judge(
    db: str, name: str, location: str, asked: list[Question], options: argparse.Namespace
) -> dict[str, Any]:
    """The figures of one set, by mode and kind."""
    said: dict[str, Any] = {}
    async with manuals.harvested(db, name, location) as rowen:
        for mode in options.mode or MODES:
            outcomes = await judging.ask(rowen, asked, mode)
            other = await judging.ask(rowen, judging.questions_of(OFF_TOPIC), mode)
            kinds = judging.by_kind(outcomes)
            said[mode] = {kind: judging.figures(ones) for kind, ones in kinds.items()}
            said[mode]["told apart"] = judging.told_apart(outcomes, other)
            show(f"{name} · {mode}", said[mode], {kind: len(ones) for kind, ones in kinds.items()})
            if options.misses and mode == "hybrid":
                await show_misses(rowen, outcomes)
    return said


def show(title: str, kinds: Kinds, numbers: dict[str, int]) -> None:
    print(f"\n{title:<24}{'n':>5}" + "".join(f"{heading:>9}" for heading in HEADINGS))
    for kind, number in numbers.items():
        cells = (f"{kinds[kind][name]:>9.3f}" if name in kinds[kind] else f"{'-':>9}" for name in HEADINGS)
        print(f"  {kind:<22}{number:>5}" + "".join(cells))
    for area in kinds["told apart"].values():
        print(f"  off topic told apart, area under the curve {area:.3f}", flush=True)


async def show_misses(rowen: Any, outcomes: list[Outcome]) -> None:
    for one in outcomes:
        if not one.found or not one.found[0] or one.anchored is False:
            answer = await rowen.search(one.question.text, limit=3)
            hits = ", ".join(f"{hit.url.split('/html/')[-1]} {hit.score:.2f}" for hit in answer.hits)
            print(f"  {one.question.kind}: `{one.question.text}` {' '.join(one.question.answers)} -> {hits}")


def compare(now: dict[str, Any], before: dict[str, Any], numbers: dict[str, dict[str, int]]) -> list[str]:
    """What differs from the baseline is printed; what fell too far is answered."""
    fell: list[str] = []
    for name, modes in now.items():
        for mode, kinds in modes.items():
            for kind, figures in kinds.items():
                old = before.get(name, {}).get(mode, {}).get(kind)
                if old is None:
                    continue
                for figure in sorted(figures.keys() | old.keys()):
                    if (change := figures.get(figure, 0.0) - old.get(figure, 0.0)) != 0:
                        print(f"  {name} · {mode} · {kind} {figure}: {old.get(figure, 0):.3f} {change:+.3f}")
                number = numbers[name].get(kind, numbers[name]["all"])
                fell += [
                    f"{name} · {mode} · {kind}: {figure} {old[figure]:.3f} is {figures.get(figure, 0):.3f}"
                    for figure in judging.fallen(figures, old, number)
                ]
    return fell


def written(baselines: dict[str, Any], depth: int = 0) -> str:
    """JSON with a line for each kind of question, so that a change of it can be read."""
    if depth == 4:
        return json.dumps(baselines)
    lines = (f'{" " * (depth + 1)}"{key}": {written(one, depth + 1)}' for key, one in baselines.items())
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"


def pairs(said: list[str]) -> dict[str, str]:
    return dict(one.split("=", 1) for one in said)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", action="append", choices=manuals.SETS, help="only this one; may be repeated")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this one; may be repeated")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--cache", default="~/.cache/rowen-judge", help="where packages are kept")
    parser.add_argument("--keep", help="a folder for the SQLite stores, to use them again")
    parser.add_argument("--manual", action="append", default=[], metavar="SET=FOLDER", help="its HTML files")
    parser.add_argument(
        "--questions", action="append", default=[], metavar="SET=FILE", help="other questions; no baseline"
    )
    parser.add_argument("--misses", action="store_true", help="show what hybrid search puts first instead")
    parser.add_argument("--write-baseline", action="store_true")
    parser.add_argument(
        "--fit", action="store_true", help="fit the weights of scores, print and change nothing"
    )
    options = parser.parse_args()
    options.manual, options.questions = pairs(options.manual), pairs(options.questions)
    options.cache = str(Path(options.cache).expanduser())
    return options


def main() -> int:
    options = arguments()
    now: dict[str, Any] = {}
    numbers: dict[str, dict[str, int]] = {}
    recorder = Recorder() if options.fit else None
    with stores(options) as store:
        for name in options.set or manuals.SETS:
            file = options.questions.get(name)
            asked = judging.questions(Path(file)) if file else judging.questions_of(name)
            try:
                with located(name, options) as location, recorder.recording() if recorder else nullcontext():
                    now[name] = asyncio.run(judge(store(name), name, location, asked, options))
            except manuals.Unavailable as exc:
                print(f"\n{name}: not judged, because {exc}")
                print(f"hint: unpack `{manuals.PACKAGES[name].name}` and say `--manual {name}=FOLDER`")
                continue
            kinds = [one.kind for one in asked]
            numbers[name] = {kind: kinds.count(kind) for kind in kinds} | {"all": len(kinds)}
    if recorder:
        report(recorder)
        return 0
    baselines = json.loads(BASELINE.read_text("utf-8")) if BASELINE.exists() else {}
    before = baselines.setdefault(options.store, {})
    compared = {name: modes for name, modes in now.items() if name not in options.questions}
    print("\nagainst the baseline (what is not named is the same)")
    fell = compare(compared, before, numbers)
    if options.write_baseline:
        for name, modes in compared.items():
            before.setdefault(name, {}).update(modes)
        BASELINE.write_text(written(baselines) + "\n", "utf-8")
        return 0
    for line in fell:
        print(f"fell: {line}")
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
