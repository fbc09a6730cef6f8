"""Where this user's processes keep things on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_store_path() -> Path:
    return _folder("data", "XDG_DATA_HOME", ".local/share") / "rowen.db"


def cache_path() -> Path:
    """What this user's processes may keep on this machine, and may lose at any moment."""
    return _folder("cache", "XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Where this user's last search and trusted files are remembered."""
    return _folder("state", "XDG_STATE_HOME", ".local/state")


def _folder(kind: str, variable: str, usual: str) -> Path:
    """As platformdirs has it, which takes long to import and is asked where the answer is not plain."""
    if sys.platform == "linux":
        given, home = (os.environ.get(name, "") for name in (variable, "HOME"))  # noqa: TID251 - no settings
        if given.startswith("/"):
            return Path(given) / "rowen"
        if home.startswith("/"):
            return Path(home) / usual / "rowen"
    import platformdirs

    found: str = getattr(platformdirs, f"user_{kind}_dir")("rowen")
    return Path(found)
