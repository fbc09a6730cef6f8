"""The server that a service makes when its first request comes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from rowen.doors.mcp.late import Late

pytestmark = pytest.mark.anyio


class Answering:
    def __init__(self) -> None:
        self.answered: list[Any] = []
        self.is_running = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self.is_running = True
        yield
        self.is_running = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert self.is_running
        self.answered.append(scope)


async def test_it_is_made_once_by_the_first_request_and_lives_as_long_as_the_service() -> None:
    made: list[Answering] = []

    def make() -> Answering:
        made.append(Answering())
        return made[0]

    late = Late(make)
    async with late.running():
        assert made == []
        await asyncio.gather(*(late({"n": number}, None, None) for number in range(3)))  # type: ignore[arg-type]
        assert [one.is_running for one in made] == [True]
    assert [scope["n"] for scope in made[0].answered] == [0, 1, 2]
    assert not made[0].is_running


async def test_without_a_request_it_is_not_made() -> None:
    def make() -> Answering:
        raise AssertionError("made")

    async with Late(make).running():
        pass


async def test_what_goes_wrong_while_it_is_made_is_told_to_every_request() -> None:
    def make() -> Answering:
        raise ModuleNotFoundError("no package")

    late = Late(make)
    async with late.running():
        for _ in range(2):
            with pytest.raises(ModuleNotFoundError, match="no package"):
                await late({}, None, None)  # type: ignore[arg-type]


def test_a_service_that_starts_does_not_load_the_protocol() -> None:
    program = (
        "import sys; from rowen.doors.cli.commands.serve import _mounts; _mounts(None, None); "
        "assert not {'mcp', 'mcp_types'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
