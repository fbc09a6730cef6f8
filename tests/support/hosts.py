"""Several hosts on one machine: network namespaces on a bridge, each with a host name of its own.

Where they cannot be made (not root, no `ip`), a host is a group of plain processes, and to be cut off means
to stand still; `Hosts.kind` says which it is, and the summary of a test session repeats it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

NAMESPACES = "network namespaces"
PROCESSES = "processes only"

NAMED = 'hostname "$0" && exec "$@"'
"""A host name of its own: otherwise the others see at once which of its processes are dead."""


@dataclass
class Host:
    name: str
    namespaced: bool
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *words: str, environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
        """A process on this host, running this Python. What it says goes to the log."""
        command = [sys.executable, *words]
        if self.namespaced:
            # Each of these becomes the next, so the process that is killed is the one that works.
            command = [
                *("ip", "netns", "exec", self.name),
                *("unshare", "--uts", "sh", "-c", NAMED, self.name),
                *command,
            ]
        with log.open("ab") as said:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        self.started.append(process)
        return process

    def cut_off(self) -> None:
        if self.namespaced:
            _ip("link", "set", self.name, "down")
        else:
            self._signal(signal.SIGSTOP)

    def come_back(self) -> None:
        if self.namespaced:
            _ip("link", "set", self.name, "up")
        else:
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(number)


@dataclass(frozen=True)
class Hosts:
    kind: str
    address: str
    """Where this process is reached by all of them."""
    each: list[Host]

    def free_port(self) -> int:
        with socket.socket() as probe:
            probe.bind((self.address, 0))
            return int(probe.getsockname()[1])

    def dismiss(self) -> None:
        """End their processes: by asking, and by force if need be."""
        for host in self.each:
            with suppress(subprocess.CalledProcessError):
                host.come_back()
        started = [process for host in self.each for process in host.started]
        for process in started:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def some_hosts(count: int) -> Iterator[Hosts]:
    """Hosts that reach us and each other; at the end they and their processes are gone."""
    mark = f"rw{os.getpid() % 100_000}"
    names = [f"{mark}-{number}" for number in range(1, count + 1)]
    # Addresses set aside for tests of networks.
    net = f"198.18.{os.getpid() % 256}"
    namespaced = _connected(mark, net, names)
    each = [Host(name, namespaced) for name in names]
    hosts = Hosts(NAMESPACES, f"{net}.1", each) if namespaced else Hosts(PROCESSES, "127.0.0.1", each)
    try:
        yield hosts
    finally:
        hosts.dismiss()
        if namespaced:
            _disconnect(mark, names)


def _connected(bridge: str, net: str, names: list[str]) -> bool:
    if os.name != "posix" or os.geteuid() or not all(map(shutil.which, ("ip", "unshare", "hostname"))):
        return False
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("address", "add", f"{net}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for number, name in enumerate(names, start=2):
            _ip("netns", "add", name)
            # The end with the host's name is ours, the other is its only way out.
            _ip("link", "add", name, "type", "veth", "peer", "name", "out", "netns", name)
            _ip("link", "set", name, "master", bridge, "up")
            _ip("-n", name, "address", "add", f"{net}.{number}/24", "dev", "out")
            _ip("-n", name, "link", "set", "out", "up")
            _ip("-n", name, "link", "set", "lo", "up")
    except subprocess.CalledProcessError:
        _disconnect(bridge, names)
        return False
    return True


def _disconnect(bridge: str, names: list[str]) -> None:
    for name in names:
        with suppress(subprocess.CalledProcessError):
            _ip("netns", "delete", name)
    with suppress(subprocess.CalledProcessError):
        _ip("link", "delete", bridge)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL, capture_output=True)
