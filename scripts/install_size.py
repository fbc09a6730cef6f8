"""How large is what `pip install rowen` brings? Each package with its size, largest first.

    python scripts/install_size.py                      Rowen and all it needs, as installed here
    python scripts/install_size.py --extra quality      with an extra
    python scripts/install_size.py --fresh              in a new environment, by pip, as a newcomer gets it
    python scripts/install_size.py --most 261           exit code 1 above so many MB

Sizes are those of the files, with the modules that pip compiles; an editable install counts as its source.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def needed(name: str, extras: Iterable[str]) -> dict[str, Distribution]:
    """A package and everything it needs here, by name."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(name, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        found[name] = one = distribution(name)
        for text in one.requires or ():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return found


def size_of(one: Distribution) -> int:
    """Of its files; of an editable install of this repository, the source."""
    files = [Path(str(one.locate_file(file))) for file in one.files or ()]
    if canonicalize_name(one.metadata["Name"]) == "rowen" and not any(
        file.suffix == ".css" for file in files
    ):
        files += (ROOT / "src" / "rowen").rglob("*")
    real = {file.resolve() for file in files if file.is_file()}
    return sum(file.stat().st_size for file in real)


def fresh(extras: list[str]) -> int:
    """The same by a new environment."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        wanted = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, wanted, "packaging", "-c", ROOT / "constraints.txt"], check=True)
        again = [python, __file__, *(f"--extra={one}" for one in extras), *_most(sys.argv)]
        return subprocess.run(again).returncode


def _most(arguments: list[str]) -> list[str]:
    return [f"--most={arguments[arguments.index('--most') + 1]}"] if "--most" in arguments else []


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--most", type=float, default=None, metavar="MB")
    options = parser.parse_args()
    if options.fresh:
        return fresh(options.extra)
    sizes = {name: size_of(one) for name, one in needed("rowen", options.extra).items()}
    for name, size in sorted(sizes.items(), key=lambda one: -one[1]):
        print(f"{size / 1e6:>8.1f} MB  {name}")
    total = sum(sizes.values()) / 1e6
    print(f"{total:>8.1f} MB  in {len(sizes)} packages")
    return 1 if options.most is not None and total > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
