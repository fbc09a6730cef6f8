"""How many modules `rowen --version`, `rowen status` and a `rowen sync` without changes load.

    python scripts/measure_imports.py [CHECKOUT] [--modules] [--json]

Each command runs in a process of its own, over a SQLite store with one source of kind web whose twelve pages
all answer 304, and says at its end what lies in `sys.modules`. `rowen` are the project's own modules; `all`
adds the standard library, the dependencies and what the interpreter loads by itself, which depends on the
environment. Times are not measured: see `benchmarks/startup.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure_site import Site

PAGES = 12
PROGRAM = """
import sys
from rowen.doors.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules)
"""
"""The last line that it prints are the names of the modules."""


class Commands:
    """`rowen` from one checkout, with one store."""

    def __init__(self, checkout: Path, store: Path) -> None:
        # Settings of this shell must not decide what is loaded.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ROWEN_")}  # noqa: TID251
        self._environment = {
            **inherited,
            "PYTHONPATH": str(checkout / "src"),
            "ROWEN_DB": f"sqlite:///{store}",
        }

    def modules(self, *words: str) -> list[str]:
        """What is loaded at the end of a call."""
        return self._run(*words).splitlines()[-1].split()

    def sync(self) -> dict[str, Any]:
        """The receipt of a sync."""
        receipt: dict[str, Any] = json.loads(self._run("sync", "site", "--json").splitlines()[0])
        return receipt

    def _run(self, *words: str) -> str:
        command = [sys.executable, "-c", PROGRAM, *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"rowen {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout


def measure(checkout: Path) -> dict[str, list[str]]:
    """The modules of each command."""
    with tempfile.TemporaryDirectory() as folder, Site(pages=PAGES) as site:
        commands = Commands(checkout, Path(folder) / "rowen.db")
        commands.modules("add", site.url, "--name", "site")
        commands.sync()
        again = commands.sync()
        assert again["not_modified"] == PAGES, again
        calls = (["--version"], ["status"], ["sync", "site"])
        return {f"rowen {call[0]}": commands.modules(*call) for call in calls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).resolve().parents[1])
    parser.add_argument("--modules", action="store_true", help="also the names of the project's modules")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.checkout.resolve())
    ours = {
        call: sorted(name for name in modules if name.partition(".")[0] == "rowen")
        for call, modules in found.items()
    }
    if options.json:
        counts = {call: {"rowen": len(ours[call]), "all": len(found[call])} for call in found}
        print(json.dumps(counts | ({"modules": ours} if options.modules else {}), indent=2))
        return
    print(f"{'modules loaded by':<28}{'rowen':>8}{'all':>8}")
    for call in found:
        print(f"{call:<28}{len(ours[call]):>8}{len(found[call]):>8}")
    for call in found if options.modules else ():
        print(f"\n{call}", *ours[call], sep="\n  ")


if __name__ == "__main__":
    main()
