"""An environment for each contender, from the versions in `pins.toml`, or why there is none."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

PINS = Path(__file__).with_name("pins.toml")


@dataclass(frozen=True)
class Environment:
    python: str
    versions: dict[str, str]


def pins() -> dict[str, list[str]]:
    """Contenders and the packages that each needs."""
    read = tomllib.loads(PINS.read_text("utf-8"))
    return {
        name: [*one["packages"], *(read["model"]["packages"] if one.get("embeds") else ())]
        for name, one in read["contenders"].items()
    }


def made(folder: Path, name: str, packages: list[str]) -> Environment | str:
    """The environment, or why there is none. One that was made from the same versions is used again."""
    home = folder / name
    python = str(home / "bin" / "python")
    stamp = home / "made-from"
    wanted = hashlib.sha256("\n".join(packages).encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"{name}: installing {', '.join(packages)}", flush=True)
        steps = (
            [sys.executable, "-m", "venv", "--clear", str(home)],
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
        )
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                return reason(done.stderr)
        stamp.write_text(wanted)
    return Environment(python, versions(python, packages))


def reason(said: str) -> str:
    """The line of pip's message that says why."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "pip failed")


def versions(python: str, packages: list[str]) -> dict[str, str]:
    names = [package.partition("==")[0].partition("[")[0] for package in packages]
    ask = "import sys, json\nfrom importlib.metadata import version as v\n"
    ask += "print(json.dumps({name: v(name) for name in sys.argv[1:]}))"
    done = subprocess.run([python, "-c", ask, *names], capture_output=True, text=True, check=True)
    answer: dict[str, str] = json.loads(done.stdout)
    return answer
