"""Where this user's processes keep things on this machine."""

from __future__ import annotations

from pathlib import Path


def default_store_path() -> Path:
    import platformdirs  # only when no store is configured

    return Path(platformdirs.user_data_dir("rowen")) / "rowen.db"


def cache_path() -> Path:
    """What this user's processes may keep on this machine, and may lose at any moment."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("rowen"))


def state_folder() -> Path:
    """Where this user's last search and trusted files are remembered."""
    import platformdirs

    return Path(platformdirs.user_state_dir("rowen"))
