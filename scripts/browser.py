"""See to it that there is a Chromium for `make browser`: found, or installed by Debian's own tool, or
asked for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from rowen.adapters.render import find_browser
from rowen.errors import ConfigError

INSTALL = (("apt-get", "update", "-qq"), ("apt-get", "install", "-y", "-qq", "chromium"))
BY_HAND = (
    "install Chromium or Chrome with the tool of your system, for example `sudo apt-get install chromium`"
)


def main() -> int:
    if _found():
        return 0
    if shutil.which("apt-get") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        print(f"no Chromium is on the PATH: {BY_HAND}", file=sys.stderr)
        return 1
    print("installing Chromium (once) ...")
    for command in INSTALL:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"`{' '.join(command)}` failed: {BY_HAND}", file=sys.stderr)
            return 1
    return 0 if _found() else 1


def _found() -> bool:
    try:
        find_browser()
    except ConfigError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
