"""Name servers for tests: names that lead where a test wants, and elsewhere the next time."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import pytest

Answers = dict[str, Sequence[Sequence[str]]]
"""For each name its answers, one after the other; the last one stays."""


class Names:
    """Stands where programs of this process look names up; other names are unknown, numbers are numbers."""

    def __init__(self, answers: Answers) -> None:
        self._answers = {name: list(listed) for name, listed in answers.items()}
        self.asked: list[str] = []
        self._real = socket.getaddrinfo

    def put_in_place(self, monkeypatch: pytest.MonkeyPatch) -> Names:
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)
        return self

    def _look_up(self, host: Any, port: Any, *rest: Any, **more: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        self.asked.append(name)
        if name not in self._answers:
            return self._real(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        listed = self._answers[name]
        addresses = listed.pop(0) if len(listed) > 1 else listed[0]
        found = []
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            place: tuple[Any, ...] = (address, int(port or 0))
            place = (*place, 0, 0) if ":" in address else place
            found.append((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place))
        return found
