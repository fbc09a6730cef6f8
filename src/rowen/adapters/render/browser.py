"""Which browser there is, and how it is started. Nothing is ever downloaded."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

from rowen.errors import ConfigError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# The browser must not use the network: `load` answers the requests of a page. These keep it from trying.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
# No process listens there. What Playwright does not intercept (a web socket, say) goes to it and ends there.
DEAD_PROXY = "http://0.0.0.0:9"


def find_browser(setting: str = "") -> str:
    """The path of the browser to use. Raises `ConfigError` when it, or Playwright, is missing."""
    if find_spec("playwright") is None:
        raise ConfigError(
            "pages cannot be rendered: the package `playwright` is not installed",
            hint="pip install 'rowen[render]'",
        )
    for name in (setting,) if setting else NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    if setting:
        raise ConfigError(
            f"setting `render.browser`: `{setting}` is not a program that can be started",
            hint="name the program of an installed Chromium or Chrome",
        )
    raise ConfigError(
        f"pages cannot be rendered: no browser on the PATH ({', '.join(NAMES)})",
        hint="install Chromium, or name a browser with the setting `render.browser` (ROWEN_RENDER_BROWSER)",
    )


def may_use_sandbox() -> bool:
    """Chromium's sandbox does not start for root."""
    return not (hasattr(os, "geteuid") and os.geteuid() == 0)
