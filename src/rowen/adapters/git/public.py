"""Git for a repository that was added over the API: to public addresses only, and pinned to them.

Git is a child process that resolves names by itself, and could get another answer than we did. So the name
is resolved here, every address must be public, and git is given those addresses and no other. It starts
with none of the operator's settings, credentials or proxies.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rowen.adapters.git.command import Git
from rowen.core.safety.addresses import is_public, parse_address
from rowen.core.web.urls import normalise
from rowen.errors import AddressRefused, ConfigError, HostUnknown

PORTS = {"https": 443, "http": 80}
PINS_SINCE = (2, 37)
"""Older versions of git do not know the setting, and would look names up again."""
MAX_PLACES = 50
"""Git itself follows borrowed objects five repositories deep."""
MAX_NAMED_BYTES = 65_536
_KEPT = frozenset((
    "PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
))  # fmt: skip
_HINT = "add it on the server with `rowen add`, where it may be private"


class PublicWay:
    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        program: str,
        timeout_s: float,
        may_read: Callable[[str], bool],
        allow_private: bool,
    ) -> None:
        kept = {name: value for name, value in environment.items() if name in _KEPT}
        self._environment = {
            **kept,
            # No settings of a user, and no home where curl finds passwords.
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HOME": os.devnull,
            "XDG_CONFIG_HOME": os.devnull,
        }
        self._program = program
        self._timeout_s = timeout_s
        self._may_read = may_read
        self._allow_private = allow_private
        self._can_pin: bool | None = None

    async def git_for(self, address: str) -> Git:
        """A git that can go to this address and nowhere else. Raises `AddressRefused`."""
        url = address.removeprefix("git+")
        scheme = url.partition("://")[0]
        if scheme == "file":
            path = unquote(urlsplit(url).path)
            if not await asyncio.to_thread(self._may_read, path):
                raise _refused(address, "not below a folder that sources added by API may read")
            outside = await asyncio.to_thread(leads_outside, path, self._may_read)
            if outside is not None:
                raise _refused(address, f"its `{outside}` leads out of the folders that sources may read")
            return self._git("file")
        if scheme != "https" and not (scheme == "http" and self._allow_private):
            raise _refused(address, f"`{scheme}` is not open to sources added by API")
        host, port = self._place(address, url, scheme)
        await self._check_version()
        addresses = await self._addresses(address, host, port)
        return self._git(scheme, pins(host, port, addresses))

    def _place(self, address: str, url: str, scheme: str) -> tuple[str, int]:
        """The host as curl will spell it: with another spelling the pin would not hold."""
        normal = normalise(url)
        parts = urlsplit(url)
        try:
            host, port = parts.hostname or "", parts.port or PORTS[scheme]
        except ValueError:
            host, port = "", 0
        if normal is None or not host or host.endswith(".") or urlsplit(normal).hostname != host:
            raise _refused(address, "its host is not spelt as it should be")
        return host, port

    async def _addresses(self, address: str, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as exc:
            raise HostUnknown(f"repository `{address}`: host `{host}` is unknown", host=host) from exc
        addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
        if not self._allow_private:
            for one in addresses:
                if not is_public(parse_address(one)):
                    raise _refused(address, f"`{one}` is not a public address")
        return addresses

    async def _check_version(self) -> None:
        if self._can_pin is None:
            said = (await self._git("https").run("program `git`", "version")).decode("utf-8", "replace")
            found = re.search(r"(\d+)\.(\d+)", said)
            self._can_pin = found is not None and (int(found[1]), int(found[2])) >= PINS_SINCE
        if not self._can_pin:
            raise ConfigError(
                "program `git`: too old for repositories added by API",
                hint=f"git {PINS_SINCE[0]}.{PINS_SINCE[1]} or newer can be held to an address",
            )

    def _git(self, protocol: str, settings: Sequence[str] = ()) -> Git:
        return Git(
            self._environment,
            program=self._program,
            timeout_s=self._timeout_s,
            protocols=protocol,
            settings=settings,
        )


def leads_outside(path: str, may_read: Callable[[str], bool]) -> str | None:
    """What of a repository on this machine makes git read elsewhere; None when nothing does.

    A `.git` may be a file that names another folder, a folder may be a link, and a repository may borrow its
    objects from others, which may borrow as well.
    """
    # In this order git looks for a repository by a path.
    waiting = [Path(path + suffix) for suffix in ("/.git", "", ".git/.git", ".git")]
    seen: set[Path] = set()
    while waiting:
        place = waiting.pop()
        real = Path(os.path.realpath(place))
        if real in seen or not real.exists():
            continue
        if not may_read(str(real)):
            return place.name
        if len(seen) >= MAX_PLACES:
            return "objects/info/alternates"
        seen.add(real)
        if real.is_file():
            waiting += _named(real, "gitdir: ", real.parent)
            continue
        for name in ("HEAD", "refs", "objects", "objects/pack", "objects/info", "packed-refs", "config"):
            inner = real / name
            if inner.exists() and not may_read(os.path.realpath(inner)):
                return name
        waiting += _named(real / "commondir", "", real)
        waiting += _named(real / "info/alternates", "", real)
        waiting += _named(real / "objects/info/alternates", "", real / "objects")
    return None


def _named(file: Path, mark: str, base: Path) -> list[Path]:
    """The places that a small file of git names, spelt exactly as git reads them."""
    try:
        with file.open("rb") as opened:
            text = os.fsdecode(opened.read(MAX_NAMED_BYTES + 1))
    except OSError:
        return []
    if not text.startswith(mark):
        return []
    named = [text.removeprefix(mark).rstrip("\r\n")] if mark else text.split("\n")
    if len(text) > MAX_NAMED_BYTES or any(one.startswith('"') for one in named):
        # Too long, or in a spelling that hides the place: treated as if it named the root of the file system.
        return [Path(base.anchor)]
    return [base / one for one in named if one and not one.startswith("#") and "\0" not in one]


def pins(host: str, port: int, addresses: Sequence[str]) -> list[str]:
    """Settings that hold git to these addresses; the star is for any other name it might come upon."""
    # A scope such as `%eth0` is of this machine, and curl does not take it.
    bare = [one.partition("%")[0] for one in addresses]
    listed = ",".join(f"[{one}]" if ":" in one else one for one in bare)
    # A host that is an IPv6 address itself is not looked up, and its colons would be taken for others.
    names = ["*"] if ":" in host else [host, "*"]
    return [f"http.curloptResolve={name}:{port}:{listed}" for name in names]


def _refused(address: str, fact: str) -> AddressRefused:
    return AddressRefused(f"repository `{address}` not asked: {fact}", hint=_HINT, address=address)
